"""What a network looks like, as text and as HTML."""

import nxkernel as nx
from nxkernel import nn

X = nx.template((5, 3), "f32")


@nn.module
def sandwich(bread, filling):
    def apply(x):
        return bread(filling(bread(x)))

    return apply


def test_a_table_of_layers():
    net = nn.serial(sandwich(nn.dense(3), nn.relu), nn.parallel(nn.dense(4), nn.dense(4)))
    assert str(net.summary(X)) == (
        "layer                              output                  parameters\n"
        "serial                             (f32[5][4], f32[5][4])\n"
        "  serial[0].sandwich               f32[5][3]\n"
        "    serial[0].sandwich.bread       f32[5][3]                       12\n"
        "    serial[0].sandwich.bread       f32[5][3]                   shared\n"
        "  serial[1].parallel               (f32[5][4], f32[5][4])\n"
        "    serial[1].parallel[0].dense    f32[5][4]                       16\n"
        "    serial[1].parallel[1].dense_1  f32[5][4]                       16\n"
        "44 parameters, 176 bytes"
    )


def test_html():
    shown = nn.serial(nn.dense(4)).summary(X)._repr_html_()
    assert shown.startswith('<table><thead><tr><th style="text-align:left">layer</th>')
    assert '<td style="text-align:left;padding-left:1.5em">serial[0].dense</td>' in shown
    assert '<code>f32[5][4]</code></td><td style="text-align:right">16</td>' in shown
    assert shown.endswith("<p>16 parameters, 64 bytes</p>")


def test_names_from_people_are_escaped_in_html():
    def odd(x):
        return {"<b>": x}

    assert "{&lt;b&gt;: f32[5][3]}" in nn.serial(odd).summary(X)._repr_html_()


def test_print_shows_the_call_until_shapes_are_known():
    net = nn.serial(nn.dense(4, bias=False), nn.relu, nn.dropout(0.25), nn.conv(3, (2, 2), kernel_init="he_normal"))
    text = "serial(dense(4, bias=False), relu, dropout(0.25), conv(3, (2, 2), kernel_init='he_normal'))"
    assert str(net) == repr(net) == text
    assert net._repr_html_() is None
    layer = nn.dense(2)
    layer.init(nx.random.key(0), X)
    assert repr(layer) == "dense(2)"
    assert str(layer) == "layer  output     parameters\ndense  f32[5][2]           8\n8 parameters, 32 bytes"
    assert layer._repr_html_() == layer.summary(X)._repr_html_() == layer.summary()._repr_html_()


def test_large_networks():
    summary = nn.dense(1000).summary(nx.template((1, 2000), "f32"))
    assert (summary.parameters, summary.nbytes) == (2_001_000, 8_004_000)
    assert summary.total == "2001000 parameters, 8.0 MB"
