from camel_to_snake import camel_to_snake


def test_camel_case():
    assert camel_to_snake(text="camelCaseName") == "camel_case_name"


def test_pascal_case():
    assert camel_to_snake(text="HelloWorld") == "hello_world"


def test_abbreviations_are_one_word():
    assert camel_to_snake(text="parseHTTPResponse") == "parse_http_response"


def test_digits_stay_with_the_word_before():
    assert camel_to_snake(text="version2Number") == "version2_number"


def test_snake_case_and_empty_text_stay():
    assert camel_to_snake(text="snake_case") == "snake_case"
    assert camel_to_snake(text="") == ""
