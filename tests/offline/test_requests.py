"""Which recipe a request asks for, and with which arguments."""

import re
from pathlib import Path
from typing import Any

import pytest

import web
from selfeng_offline.cookbook.matching import in_english, is_german, matches
from selfeng_offline.cookbook.project_recipes import project_for
from selfeng_offline.cookbook.recipe import recipes
from selfeng_offline.cookbook.scripts import script_for
from selfeng_offline.cookbook.writing import _PROJECT

CSV = "item,price\npen,2\nbook,10"

ASKED: list[tuple[str, str, dict[str, Any]]] = [
    # texts
    ("Reverse the string 'hello world'", "reverse_string", {"text": "hello world"}),
    ("Reverse 'Python'", "reverse_string", {"text": "Python"}),
    ("reverse the word stressed", "reverse_string", {"text": "stressed"}),
    ("please reverse hello", "reverse_string", {"text": "hello"}),
    ("Write abc backwards", "reverse_string", {"text": "abc"}),
    (
        "Could you please reverse the following text: It's a trap, then!",
        "reverse_string",
        {"text": "It's a trap, then!"},
    ),
    ("What is 'desserts' spelled backwards?", "reverse_string", {"text": "desserts"}),
    ("Reverse “naïve café”", "reverse_string", {"text": "naïve café"}),
    ("reverse ''", "reverse_string", {"text": ""}),
    (
        "I'd like you to reverse the string \"don't panic\", please.",
        "reverse_string",
        {"text": "don't panic"},
    ),
    ("Reverse a string", "reverse_string", {}),
    ("Build me a tool that reverses strings", "reverse_string", {}),
    ("Reverse the order of the words in 'a b c'", "reverse_words", {"text": "a b c"}),
    ("Put 'war and peace' in title case", "title_case_text", {"text": "war and peace"}),
    ("Make 'warning' all caps", "uppercase_text", {"text": "warning"}),
    ("Convert HELLO to lowercase", "lowercase_text", {"text": "HELLO"}),
    ("How many words are in the quick brown fox?", "count_words", {"text": "the quick brown fox"}),
    ("How many words does 'one two' have?", "count_words", {"text": "one two"}),
    ("Count the vowels in 'queue'", "count_vowels", {"text": "queue"}),
    ("Reverse 'queue' and then count its vowels", "reverse_and_count_vowels", {"text": "queue"}),
    (
        "How many characters does 'one two' have without spaces?",
        "count_characters",
        {"text": "one two", "include_spaces": False},
    ),
    ("What is the length of 'abc'?", "count_characters", {"text": "abc"}),
    ("How many r's are in strawberry?", "count_occurrences", {"part": "r", "text": "strawberry"}),
    (
        "How often does 'na' occur in 'banana'?",
        "count_occurrences",
        {"part": "na", "text": "banana"},
    ),
    ("Is racecar a palindrome?", "is_palindrome", {"text": "racecar"}),
    ("Is this a palindrome: Never odd or even", "is_palindrome", {"text": "Never odd or even"}),
    (
        "Are 'listen' and 'silent' anagrams?",
        "are_anagrams",
        {"first": "listen", "second": "silent"},
    ),
    ("Is evil an anagram of vile?", "are_anagrams", {"first": "evil", "second": "vile"}),
    (
        "Encrypt 'abc' with the Caesar cipher, shift 3",
        "caesar_encrypt",
        {"text": "abc", "shift": 3},
    ),
    ("Encrypt 'abc' with a Caesar cipher", "caesar_encrypt", {"text": "abc"}),
    (
        "Decrypt 'def' with the Caesar cipher and a shift of 3",
        "caesar_decrypt",
        {"text": "def", "shift": 3},
    ),
    (
        "Decode the Caesar cipher 'khoor' with key 3",
        "caesar_decrypt",
        {"text": "khoor", "shift": 3},
    ),
    ("Find all email addresses in 'x@y.org, z'", "extract_emails", {"text": "x@y.org, z"}),
    ("Convert parseHTTPResponse to snake_case", "camel_to_snake", {"text": "parseHTTPResponse"}),
    ("Convert user_id to camelCase", "snake_to_camel", {"text": "user_id"}),
    (
        "How often does each word occur in 'to be or not to be'?",
        "word_frequencies",
        {"text": "to be or not to be"},
    ),
    (
        "What is the acronym of 'as soon as possible'?",
        "make_acronym",
        {"text": "as soon as possible"},
    ),
    (
        "Truncate 'hello wonderful world' to 10 characters",
        "truncate_text",
        {"text": "hello wonderful world", "length": 10},
    ),
    (
        "Replace 'a' with 'o' in 'banana'",
        "replace_text",
        {"old": "a", "new": "o", "text": "banana"},
    ),
    ("In 'a-b' replace '-' by ''", "replace_text", {"old": "-", "new": "", "text": "a-b"}),
    ("Make a URL slug from 'Hello World'", "slugify_text", {"text": "Hello World"}),
    ("Slugify Crème Brûlée: 10 Tips", "slugify_text", {"text": "Crème Brûlée: 10 Tips"}),
    ("Slugify 'a b' with underscores", "slugify_text", {"text": "a b", "separator": "_"}),
    # numbers
    ("What is 15 percent of 300?", "calculate_percentage", {"percentage": 15, "number": 300}),
    ("what's 7.5% of $1,200.50", "calculate_percentage", {"percentage": 7.5, "number": 1200.5}),
    (
        "How much is twenty percent of 80 dollars?",
        "calculate_percentage",
        {"percentage": 20, "number": 80},
    ),
    ("-10% of -50", "calculate_percentage", {"percentage": -10, "number": -50}),
    ("What is the percentage change from 80 to 100?", "percentage_change", {"old": 80, "new": 100}),
    (
        "By how many percent did it fall if it went from 5 to 4?",
        "percentage_change",
        {"old": 5, "new": 4},
    ),
    ("Percent increase from 1,200 to 1,500", "percentage_change", {"old": 1200, "new": 1500}),
    (
        "Compound interest on 1000 at 5% for 10 years",
        "compound_interest",
        {"principal": 1000, "annual_rate": 5, "years": 10},
    ),
    (
        "What will $2,500 become in 4 years at 3.5% compounded monthly?",
        "compound_interest",
        {"principal": 2500, "annual_rate": 3.5, "years": 4, "compounds_per_year": 12},
    ),
    ("What is 2 + 3 * 4?", "evaluate_expression", {"expression": "2 + 3 * 4"}),
    ("Calculate (1 - 2) / 3 =", "evaluate_expression", {"expression": "(1 - 2) / 3"}),
    ("What is 12 times 12?", "evaluate_expression", {"expression": "12 * 12"}),
    ("Sum of 1, 2 and 3", "sum_numbers", {"numbers": [1, 2, 3]}),
    ("Add 17 and 25", "sum_numbers", {"numbers": [17, 25]}),
    (
        "What is the average of 1,200, 300 and 450.5?",
        "calculate_mean",
        {"numbers": [1200, 300, 450.5]},
    ),
    ("Mean of [1,2,3]", "calculate_mean", {"numbers": [1, 2, 3]}),
    ("median of 3 1 2", "calculate_median", {"numbers": [3, 1, 2]}),
    (
        "What is the standard deviation of 2, 4, 4, 5?",
        "standard_deviation",
        {"numbers": [2, 4, 4, 5]},
    ),
    (
        "Population standard deviation of [1, 3]",
        "standard_deviation",
        {"numbers": [1, 3], "population": True},
    ),
    ("Summarize the numbers 4, 8 and 15", "summarize_numbers", {"numbers": [4, 8, 15]}),
    ("Give me descriptive statistics for [1.5, -2]", "summarize_numbers", {"numbers": [1.5, -2]}),
    ("Is 97 prime?", "is_prime", {"number": 97}),
    ("Tell me whether 91 is a prime number", "is_prime", {"number": 91}),
    ("Prime factors of 360", "prime_factors", {"number": 360}),
    ("Factorize 1,001", "prime_factors", {"number": 1001}),
    ("All primes up to 20", "list_primes", {"limit": 20}),
    ("List the prime numbers below 7", "list_primes", {"limit": 6}),
    ("What is 5!", "calculate_factorial", {"number": 5}),
    ("Factorial of 10", "calculate_factorial", {"number": 10}),
    ("GCD of 12 and 18", "greatest_common_divisor", {"numbers": [12, 18]}),
    ("lcm(4, 6)", "least_common_multiple", {"numbers": [4, 6]}),
    ("The first 10 Fibonacci numbers", "fibonacci_sequence", {"count": 10}),
    ("Write 2024 as a Roman numeral", "number_to_roman", {"number": 2024}),
    ("What is 14 in Roman numerals?", "number_to_roman", {"number": 14}),
    ("What number is XIV?", "roman_to_number", {"numeral": "XIV"}),
    ("Convert the Roman numeral mmxxiv to a number", "roman_to_number", {"numeral": "mmxxiv"}),
    (
        "Convert binary 1010 to decimal",
        "convert_base",
        {"number": "1010", "from_base": 2, "to_base": 10},
    ),
    ("255 in hex", "convert_base", {"number": "255", "from_base": 10, "to_base": 16}),
    ("0xff to decimal", "convert_base", {"number": "0xff", "from_base": 16, "to_base": 10}),
    ("Round 3.14159 to two decimal places", "round_number", {"number": 3.14159, "decimals": 2}),
    ("Round 7.5 to the nearest integer", "round_number", {"number": 7.5}),
    ("Sum of the digits of 12345", "sum_digits", {"number": 12345}),
    ("Is 50 a perfect square?", "is_perfect_square", {"number": 50}),
    ("square root of 144", "square_root", {"number": 144}),
    # dates
    (
        "How many days are there between 2024-01-01 and 2024-12-25?",
        "days_between",
        {"start": "2024-01-01", "end": "2024-12-25"},
    ),
    (
        "Days from March 3, 2024 to 1 April 2024",
        "days_between",
        {"start": "2024-03-03", "end": "2024-04-01"},
    ),
    ("What day of the week was July 20th, 1969?", "day_of_week", {"day": "1969-07-20"}),
    ("What date is 30 days after 2024-01-15?", "add_days", {"day": "2024-01-15", "days": 30}),
    ("Subtract 7 days from 03.01.2025", "add_days", {"day": "2025-01-03", "days": -7}),
    ("Which day is 10 days before 2024-03-05?", "add_days", {"day": "2024-03-05", "days": -10}),
    ("Is 1900 a leap year?", "is_leap_year", {"year": 1900}),
    ("How many days are in February 2024?", "days_in_month", {"month": 2, "year": 2024}),
    (
        "How old is someone born on 1990-05-17 on 2024-06-01?",
        "age_on_date",
        {"birth_date": "1990-05-17", "on_date": "2024-06-01"},
    ),
    ("Which calendar week is 2024-03-15?", "iso_week", {"day": "2024-03-15"}),
    # lists
    ("Sort the list [3, 1, 2]", "sort_list", {"items": [3, 1, 2]}),
    (
        "Sort 10, 9 and 42 in descending order",
        "sort_list",
        {"items": [10, 9, 42], "descending": True},
    ),
    (
        "Sort these words alphabetically: pear, apple, fig",
        "sort_list",
        {"items": ["pear", "apple", "fig"]},
    ),
    ("sort 3 1 2", "sort_list", {"items": [3, 1, 2]}),
    ("Remove duplicates from [1, 2, 2]", "remove_duplicates", {"items": [1, 2, 2]}),
    ("Deduplicate the list 'a', 'b', 'a'", "remove_duplicates", {"items": ["a", "b", "a"]}),
    ("Split [1, 2, 3, 4, 5] into chunks of 2", "chunk_list", {"items": [1, 2, 3, 4, 5], "size": 2}),
    ("Flatten [[1, 2], [3, [4]]]", "flatten_list", {"items": [[1, 2], [3, [4]]]}),
    ("Intersection of [1, 2] and [2, 3]", "intersect_lists", {"first": [1, 2], "second": [2, 3]}),
    ("What is the largest number in [4, 8, 1]?", "find_maximum", {"numbers": [4, 8, 1]}),
    ("Minimum of 3, 9 and -2", "find_minimum", {"numbers": [3, 9, -2]}),
    ("Second largest of 10, 30, 20", "second_largest", {"numbers": [10, 30, 20]}),
    ("Rotate [1, 2, 3] by 1", "rotate_list", {"items": [1, 2, 3], "steps": 1}),
    (
        "Rotate the list [1, 2, 3] to the left by 1",
        "rotate_list",
        {"items": [1, 2, 3], "steps": -1},
    ),
    ("Reverse the list [1, 2, 3]", "reverse_list", {"items": [1, 2, 3]}),
    ("Reverse ['a', 'b']", "reverse_list", {"items": ["a", "b"]}),
    # conversions
    ("Convert 25 degrees Celsius to Fahrenheit", "celsius_to_fahrenheit", {"celsius": 25}),
    ("what is -40°C in F?", "celsius_to_fahrenheit", {"celsius": -40}),
    ("Celsius to Fahrenheit: 30", "celsius_to_fahrenheit", {"celsius": 30}),
    ("Convert 77 degrees Fahrenheit to Celsius", "fahrenheit_to_celsius", {"fahrenheit": 77}),
    ("How many degrees Celsius are 32 °F?", "fahrenheit_to_celsius", {"fahrenheit": 32}),
    ("70 kg in pounds", "kilograms_to_pounds", {"kilograms": 70}),
    ("How many kilograms are 150 pounds?", "pounds_to_kilograms", {"pounds": 150}),
    ("Convert 5 km to miles", "convert_length", {"value": 5, "from_unit": "km", "to_unit": "mi"}),
    (
        "How many centimeters are 12 inches?",
        "convert_length",
        {"value": 12, "from_unit": "in", "to_unit": "cm"},
    ),
    (
        "How many feet are in a mile?",
        "convert_length",
        {"value": 1, "from_unit": "mi", "to_unit": "ft"},
    ),
    ("Convert #ff8800 to RGB", "hex_to_rgb", {"color": "#ff8800"}),
    ("Convert rgb(255, 136, 0) to hex", "rgb_to_hex", {"red": 255, "green": 136, "blue": 0}),
    ("Convert 135 minutes to h:mm", "format_minutes", {"minutes": 135}),
    ("Show 1536 bytes in a human-readable form", "format_bytes", {"size": 1536}),
    # CSV and JSON
    (f"Convert this CSV to JSON:\n{CSV}", "csv_to_json", {"csv_text": CSV}),
    ("Convert the CSV 'a,b\\n1,2' to JSON", "csv_to_json", {"csv_text": "a,b\n1,2"}),
    ("Convert sales.csv to JSON", "csv_to_json", {"csv_text": "sales.csv"}),
    ('Turn [{"a": 1}] into CSV', "json_to_csv", {"json_text": '[{"a": 1}]'}),
    (
        f"Sum the price column of this CSV:\n```\n{CSV}\n```",
        "sum_csv_column",
        {"csv_text": CSV, "column": "price"},
    ),
    (
        f"Summarize the column price of this CSV: {CSV}",
        "summarize_csv_column",
        {"csv_text": CSV, "column": "price"},
    ),
    (
        f"Sort this CSV by price in descending order: {CSV}",
        "sort_csv",
        {"csv_text": CSV, "column": "price", "descending": True},
    ),
    (
        "Summarize column price of sales.csv",
        "summarize_csv_column",
        {"csv_text": "sales.csv", "column": "price"},
    ),
    (
        "Fetch the table from https://data.example/prices",
        "fetch_table",
        {"url": "https://data.example/prices"},
    ),
    (
        'Get table "Rates" on the page data.example/prices',
        "fetch_table",
        {"table": "Rates", "url": "data.example/prices"},
    ),
    (
        "Call the API https://api.example/v1/items?page=1",
        "fetch_json",
        {"url": "https://api.example/v1/items?page=1"},
    ),
    (
        "Get at most 5 items from https://api.example/items",
        "fetch_json",
        {"limit": 5, "url": "https://api.example/items"},
    ),
    (
        "What does https://pages.example/ say?",
        "read_page_text",
        {"url": "https://pages.example/"},
    ),
    (
        "The latest headlines of https://news.example/rss, please",
        "fetch_feed",
        {"url": "https://news.example/rss"},
    ),
    (
        'Run "SELECT 1" on postgresql://me@db.example/shop',
        "query_database",
        {"sql": "SELECT 1", "url": "postgresql://me@db.example/shop"},
    ),
    ("Statistics for the price column of this file", "summarize_csv_column", {"column": "price"}),
    (
        "Extract towns[0] from towns.json",
        "query_json",
        {"json_text": "towns.json", "path": "towns[0]"},
    ),
    ("Pretty-print config.json", "format_json", {"json_text": "config.json"}),
    (
        "plot column price against day of sales.csv",
        "plot_csv_columns",
        {"y": "price", "x": "day", "path": "sales.csv"},
    ),
    ("Plot y against x", "plot_csv_columns", {"y": "y", "x": "x"}),
    (
        "Please plot 'unit price' over time in this file.",
        "plot_csv_columns",
        {"y": "unit price", "x": "time"},
    ),
    (
        "Draw a scatter plot of a vs. b from the attached CSV",
        "plot_csv_columns",
        {"y": "a", "x": "b"},
    ),
    (
        "Can you graph the columns y versus x of 'my data.csv'?",
        "plot_csv_columns",
        {"y": "y", "x": "x", "path": "my data.csv"},
    ),
    ("Chart this CSV", "chart_csv_file", {}),
    ("Visualize the attached table, please", "chart_csv_file", {}),
    ("Draw a chart of it", "chart_csv_file", {}),
    ("plot data.csv", "chart_csv_file", {"path": "data.csv"}),
    ("Sum column c of data.csv", "sum_csv_file_column", {"column": "c", "path": "data.csv"}),
    (
        "What is the sum of the column 'unit price' in this CSV?",
        "sum_csv_file_column",
        {"column": "unit price"},
    ),
    ("Add up the price column of the attached file", "sum_csv_file_column", {"column": "price"}),
    (f"How many rows does this CSV have: {CSV}", "count_csv_rows", {"csv_text": CSV}),
    ("Is this valid JSON: {'a': 1}", "validate_json", {"text": "{'a': 1}"}),
    (
        'Get users[0].name from the JSON {"users": [{"name": "Ann"}]}',
        "query_json",
        {"path": "users[0].name", "json_text": '{"users": [{"name": "Ann"}]}'},
    ),
    ('Pretty-print this JSON: {"a":1}', "format_json", {"json_text": '{"a":1}'}),
    (
        'Indent this JSON with 4 spaces: {"a":1}',
        "format_json",
        {"json_text": '{"a":1}', "indent": 4},
    ),
    # encodings
    ("Encode 'hello' as Base64", "base64_encode", {"text": "hello"}),
    ("Base64 decode aGVsbG8=", "base64_decode", {"text": "aGVsbG8="}),
    ("Decode the base64 string 'aGVsbG8='", "base64_decode", {"text": "aGVsbG8="}),
    ("URL encode 'a b&c'", "url_encode", {"text": "a b&c"}),
    ("URL-decode a%20b", "url_decode", {"text": "a%20b"}),
    ("Apply ROT13 to 'hello'", "rot13_text", {"text": "hello"}),
    ("Translate SOS to Morse code", "text_to_morse", {"text": "SOS"}),
    ("Decode the Morse code ... --- ...", "morse_to_text", {"morse": "... --- ..."}),
    ("What is the SHA-256 hash of 'hello'?", "sha256_hash", {"text": "hello"}),
]

NOT_ASKED = [
    "Tell me the history of percentages",
    "Write a poem about reversing",
    "What is the capital of France?",
    "How does the Caesar cipher work?",
    "Explain how to reverse a linked list",
    "Reverse it",
    "Reverse that again",
    "Reverse the decision of the court",
    "Reverse engineer this binary",
    "Reverse 'hello' and count its syllables",
    "Reverse 'a' and 'b'",
    "What percentage of 300 is 45?",
    "Is mathematics a prime example of beauty?",
    "Who invented Roman numerals?",
    "How many words does Shakespeare's Hamlet have according to my teacher?",
    "Count the words in my document",
    "Sort out my life",
    "Sort the mail by tomorrow",
    "Why is the sum of 1, 2 and 3 equal to their product?",
    "Days until Christmas",
    "How old am I?",
    "What day is today?",
    "Convert 100 dollars to euros",
    "Convert 5 km to kilograms",
    "Convert 20 degrees Celsius to Kelvin",
    "What is the mean temperature on Mars?",
    "The median household income",
    "Encode the message somehow",
    "Decode my dreams",
    "Translate 'good morning' to French",
    "Send an email to ann@example.com",
    "Fetch the weather",
    "Validate my assumptions",
    "Is 2024-01-15 a good day?",
    "What is 2024-01-15?",
    "The largest country in Europe",
    "Which is the largest of the planets?",
    "Flatten the curve",
    "Rotate the image by 90 degrees",
    "Replace the battery with a new one",
    "Round up the usual suspects",
    "Hash browns recipe",
    "First aid",
    "hello",
    "thanks a lot!",
    "",
    "?",
]


@pytest.mark.parametrize(("request_", "name", "arguments"), ASKED, ids=[a[0][:60] for a in ASKED])
def test_request_asks_for_one_recipe_with_its_arguments(
    request_: str, name: str, arguments: dict[str, Any]
) -> None:
    assert [(m.recipe.name, m.arguments) for m in matches(request_)] == [(name, arguments)]


@pytest.mark.parametrize("request_", NOT_ASKED)
def test_request_asks_for_no_recipe(request_: str) -> None:
    assert [(m.recipe.name, m.arguments) for m in matches(request_)] == []


def test_table_holds_every_recipe_and_more_than_120_requests() -> None:
    assert {name for _, name, _ in ASKED} == {r.name for r in recipes()}
    assert len(ASKED) >= 120


GERMAN: list[tuple[str, str, dict[str, Any]]] = [
    ("Wie viel sind 7,5 % von 1.200?", "calculate_percentage", {"percentage": 7.5, "number": 1200}),
    ("Bitte berechne den Mittelwert von 2, 4 und 9", "calculate_mean", {"numbers": [2, 4, 9]}),
    ("Median der Zahlen 3, 1, 2", "calculate_median", {"numbers": [3, 1, 2]}),
    ("Was ist die Summe von 1, 2 und 3?", "sum_numbers", {"numbers": [1, 2, 3]}),
    ("Ist 97 eine Primzahl?", "is_prime", {"number": 97}),
    ("Primfaktoren von 360", "prime_factors", {"number": 360}),
    ("Die Fakultät von 10", "calculate_factorial", {"number": 10}),
    ("Die ersten 10 Fibonacci-Zahlen", "fibonacci_sequence", {"count": 10}),
    ("Schreibe 2024 als römische Zahl", "number_to_roman", {"number": 2024}),
    ("Wurzel aus 144", "square_root", {"number": 144}),
    ("Drehe „Hallo Welt“ um", "reverse_string", {"text": "Hallo Welt"}),
    ("Zähle die Vokale in „Banane“", "count_vowels", {"text": "Banane"}),
    ("Wie viele Wörter hat „eins zwei drei“?", "count_words", {"text": "eins zwei drei"}),
    ("Ist „Otto“ ein Palindrom?", "is_palindrome", {"text": "Otto"}),
    ("Schreibe „leise“ in Großbuchstaben", "uppercase_text", {"text": "leise"}),
    ("Schreibe „LAUT“ in Kleinbuchstaben", "lowercase_text", {"text": "LAUT"}),
    ("Kodiere „hallo“ als Base64", "base64_encode", {"text": "hallo"}),
    ("SHA-256 von „hallo“", "sha256_hash", {"text": "hallo"}),
    (
        "Wie viele Tage liegen zwischen 1.3.2024 und 2024-04-01?",
        "days_between",
        {"start": "2024-03-01", "end": "2024-04-01"},
    ),
    ("Welcher Wochentag war der 20.07.1969?", "day_of_week", {"day": "1969-07-20"}),
    ("Ist 1900 ein Schaltjahr?", "is_leap_year", {"year": 1900}),
    ("Sortiere die Liste [3, 1, 2]", "sort_list", {"items": [3, 1, 2]}),
    ("Entferne Duplikate aus [1, 2, 2]", "remove_duplicates", {"items": [1, 2, 2]}),
    ("25 Grad Celsius in Fahrenheit", "celsius_to_fahrenheit", {"celsius": 25}),
    ("Was sind 77 °F in Celsius?", "fahrenheit_to_celsius", {"fahrenheit": 77}),
    ("5 km in Meilen", "convert_length", {"value": 5, "from_unit": "km", "to_unit": "mi"}),
    ("70 kg in Pfund", "kilograms_to_pounds", {"kilograms": 70}),
    ("Wandle sales.csv in JSON um", "csv_to_json", {"csv_text": "sales.csv"}),
    (
        "Summiere die Spalte revenue aus sales.csv",
        "sum_csv_file_column",
        {"column": "revenue", "path": "sales.csv"},
    ),
]


@pytest.mark.parametrize(("request_", "name", "arguments"), GERMAN, ids=[g[0] for g in GERMAN])
def test_a_german_request_asks_for_what_it_lists(
    request_: str, name: str, arguments: dict[str, Any]
) -> None:
    assert [(m.recipe.name, m.arguments) for m in matches(request_)] == [(name, arguments)]


@pytest.mark.parametrize(
    ("request_", "german"),
    [
        ("Schreibe eine Sinfonie in c-Moll", True),
        ("Kürze das", True),
        ("Write a symphony in C minor", False),
        ("Count the vowels in 'eine kleine Nachtmusik'", False),
    ],
)
def test_the_language_of_a_request_is_seen_by_its_words(request_: str, german: bool) -> None:
    assert is_german(request_) is german


@pytest.mark.parametrize("language", ["en", "de"])
def test_every_example_of_the_page_is_known(language: str) -> None:
    source = Path(web.__file__).parent / "static" / "locales" / f"{language}.ftl"
    texts = dict(
        re.findall(r"^((?:project-)?example-[\w-]+) = (.+)$", source.read_text("utf-8"), re.M)
    )
    for id, name in {
        "library": "calculate_percentage",
        "build": "text_to_morse",
        "file": "plot_csv_columns",
        "plan": "reverse_and_count_vowels",
    }.items():
        request_ = texts[f"example-{id}-request"]
        assert [m.recipe.name for m in matches(request_)] == [name]
        assert is_german(request_) is (language == "de")
    script = script_for(texts["example-script-request"])
    assert script is not None
    assert script.name == "squares.py"
    project = texts["example-project-request"]
    assert _PROJECT.match(in_english(project))
    goals = [project, *(texts[f"project-example-{n}"] for n in ("counter", "sales", "song"))]
    assert all(project_for(goal) for goal in goals)
