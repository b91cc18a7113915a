from count_csv_rows import count_csv_rows


def test_header_does_not_count():
    assert count_csv_rows(csv_text="name,age\nAnn,30\nBob,25\n") == 2


def test_tables_without_header():
    assert count_csv_rows(csv_text="1,2\n3,4", has_header=False) == 2


def test_empty_lines_do_not_count():
    assert count_csv_rows(csv_text="a\n\n1\n\n2\n\n") == 2


def test_line_breaks_in_quotes_do_not_end_a_row():
    assert count_csv_rows(csv_text='a,b\n"x\ny",1') == 1


def test_empty_text_has_none():
    assert count_csv_rows(csv_text="") == 0
