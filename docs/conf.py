"""Sphinx's settings for the reference; ``python docs/build.py`` builds it."""

project = "nxkernel"
extensions = ["sphinx.ext.autodoc", "numpydoc"]
html_theme = "furo"
html_title = "nxkernel: reference"
html_show_copyright = False
html_show_sphinx = False
html_copy_source = False
# A page is about one package, which its heading names: `exp` there, `nxkernel.exp` in links and in the index.
add_module_names = False
python_use_unqualified_type_names = True
autodoc_typehints = "none"
toc_object_entries_show_parents = "hide"
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False
