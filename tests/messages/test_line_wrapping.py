from nxkernel.messages.line_wrapping import wrapped


def test_short_lines_stay_as_they_are():
    text = "x has the type f32.\n  Write  nx.as_type(x).\n"
    assert wrapped(text) == text


def test_a_long_line_goes_on_between_words_and_is_indented():
    assert wrapped("one two three four", 9) == "one two\n  three\n  four"
    assert wrapped("  one two three four", 11) == "  one two\n    three\n    four"


def test_a_word_that_is_longer_than_a_line_stays_whole():
    assert wrapped("abcdefghijkl mn", 8) == "abcdefghijkl\n  mn"
    assert wrapped("  abcdefghijkl", 8) == "  abcdefghijkl"


def test_columns_keep_their_distance():
    assert wrapped("a   b   cc dd", 9) == "a   b\n  cc dd"


def test_colours_take_no_room():
    line = "\x1b[31mone\x1b[0m two"
    assert wrapped(line, 7) == line
    assert wrapped(line, 6) == "\x1b[31mone\x1b[0m\n  two"


def test_a_line_with_a_mark_below_stays_whole():
    text = "    return one + two + three\n           ^^^\n  Write it in another way."
    assert wrapped(text, 16) == "    return one + two + three\n           ^^^\n  Write it in\n    another way."
