from nxkernel_lab.rendering.dot import to_dot


def test_a_cluster_for_each_kernel(definition):
    source = to_dot(definition).source
    assert source.count("subgraph cluster_") == 2
    assert 'label="kernel 2 · map · 3 reads 1 write · 4 × 10"' in source
    assert 'n0 [label="t\\nf32[4][10]" penwidth=1 shape=box style=rounded]' in source
    assert 'n9 [label="divide\\nf32[4][10]" penwidth=2 shape=box style=rounded]' in source
    edges = [line.strip() for line in source.splitlines() if "->" in line]
    assert edges == [
        "n0 -> n1",
        "n0 -> n2",
        "n0 -> n3",
        "n1 -> n2",
        "n1 -> n3",
        "n2 -> n4",
        "n3 -> n5",
        "n4 -> n6",
        "n5 -> n7",
        "n6 -> n8",
        "n7 -> n9",
        "n8 -> n9",
    ]


def test_large_graphs_are_whole_too(chain):
    assert to_dot(chain).source.count("[label=") >= 401


def test_names_cannot_leave_their_quotes(named):
    source = to_dot(named('"] evil [x="\\')).source
    assert '\\"] evil [x=\\"\\\\' in source
    assert "<b>" not in to_dot(named("<b>")).source or 'label="<b>' in to_dot(named("<b>")).source
