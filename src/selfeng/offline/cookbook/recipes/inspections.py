"""Recipes that look into texts: counting, testing, finding."""

from selfeng.offline.cookbook.phrases import TEXT, WHETHER, counted
from selfeng.offline.cookbook.recipe import Recipe

_PART = "( the (letter|word|character|substring|text|string))?"

INSPECTIONS: tuple[Recipe, ...] = (
    Recipe(
        name="count_words",
        aliases=("word_count", "count_words_in_text"),
        patterns=(*counted("words"), f"word count (of|for|in){TEXT}? <text>"),
        says="{text} has {result} words.",
    ),
    Recipe(
        name="count_vowels",
        aliases=("vowel_count", "count_vowels_in_text"),
        patterns=(*counted("vowels"), f"vowel count (of|for|in){TEXT}? <text>"),
        requests=(
            "How many vowels are in 'hello world'?",
            "Count the vowels in the word education",
            "Number of vowels in 'rhythm and blues'",
            "Count vowels of 'programming'",
            "How many vowels does the word queue have?",
        ),
        says="{text} has {result} vowels.",
    ),
    Recipe(
        name="count_characters",
        aliases=("character_count", "string_length", "text_length"),
        patterns=(
            *(
                (p + " (without|excluding|not counting|ignoring)( the)? (spaces|white ?space)", {"include_spaces": False})
                for p in counted("characters")
            ),
            *counted("(characters|chars)"),
            f"(length|character count) of{TEXT}? <text>",
            f"how long is{TEXT} <text>",
        ),
        requests=(
            "How many characters are in 'hello world'?",
            "Count the characters in the text 'to be or not to be'",
            "What is the length of the string 'abc'?",
            "How many characters does 'one two' have without spaces?",
            "Number of characters in the word internationalization",
        ),
        says="{text} has {result} characters.",
    ),
    Recipe(
        name="count_occurrences",
        aliases=("count_substring", "count_letter", "count_character"),
        patterns=(
            f"how (often|many times) (does|do|is){_PART} <part:token> "
            f"(occur|occurs|appear|appears|contained|used|come up) in{TEXT}? <text>",
            f"how many( times)?( the letter)? <part:letter>('?s)?( are| are there| occur| appear)? in{TEXT}? <text>",
            f"(count( all)?( the)?|number of)( the)?( number of)? (occurrences|appearances) of{_PART} <part:token> in{TEXT}? <text>",
            f"count the letter <part:letter> in{TEXT}? <text>",
        ),
        requests=(
            "How often does the letter r occur in 'strawberry'?",
            "Count the occurrences of 'the' in 'the cat and the dog'",
            "How many times does 'na' appear in the word banana?",
            "How many e's are in 'Mercedes'?",
            "Number of occurrences of 'ab' in 'abcabc'",
        ),
        says="{part} occurs {result} times in {text}.",
    ),
    Recipe(
        name="word_frequencies",
        aliases=("word_frequency", "count_word_frequency", "word_counts"),
        patterns=(
            f"word frequenc(y|ies) (of|in|for){TEXT}? <text>",
            f"frequenc(y|ies) of (each|every|the|all) words? in{TEXT}? <text>",
            f"how (often|many times) (does|do|is) (each|every) word (occur|appear|used) in{TEXT}? <text>",
            f"count (how (often|many times) )?(each|every) word( occurs| appears)? (in|of){TEXT}? <text>",
        ),
        requests=(
            "Word frequencies of 'the cat and the dog'",
            "How often does each word occur in 'to be or not to be'?",
            "Count how often every word appears in 'a b a'",
            "What is the frequency of each word in the sentence 'no means no'?",
            'Word frequency in "row row row your boat"',
        ),
    ),
    Recipe(
        name="is_palindrome",
        aliases=("check_palindrome", "palindrome_check"),
        patterns=(
            f"is{TEXT}? <text> a palindrome",
            f"{WHETHER}{TEXT}? <text> is a palindrome",
            f"is (this|the following){TEXT}? a palindrome <text:text>",
            "palindrome check (of|for) <text>",
        ),
        requests=(
            "Is 'racecar' a palindrome?",
            "Check whether the word level is a palindrome",
            'Is "A man, a plan, a canal: Panama" a palindrome?',
            "Tell me if 'hello' is a palindrome",
            "Is the phrase 'never odd or even' a palindrome?",
        ),
        says=("Yes, {text} is a palindrome.", "No, {text} is not a palindrome."),
    ),
    Recipe(
        name="are_anagrams",
        aliases=("is_anagram", "check_anagram", "check_anagrams"),
        patterns=(
            "are( the words| the phrases)? <first> and <second> anagrams( of each other)?",
            f"is{TEXT}? <first> an anagram (of|for){TEXT}? <second>",
            f"{WHETHER}( the words| the phrases)? <first> and <second> are anagrams( of each other)?",
            f"{WHETHER}{TEXT}? <first> is an anagram of{TEXT}? <second>",
        ),
        requests=(
            "Are 'listen' and 'silent' anagrams?",
            "Is 'dormitory' an anagram of 'dirty room'?",
            "Check whether night and thing are anagrams",
            "Tell me if 'hello' and 'world' are anagrams of each other",
            "Are the words evil and vile anagrams?",
        ),
        says=("Yes, {first} and {second} are anagrams.", "No, {first} and {second} are not anagrams."),
    ),
    Recipe(
        name="extract_emails",
        aliases=("find_emails", "extract_email_addresses", "get_emails"),
        patterns=(
            f"((extract|pull|list|collect|pick)( out)? )?(all )?(the )?e-?mails?( addresses)? (from|in|out of){TEXT}? <text>",
            f"(what|which) e-?mail addresses (are|occur|appear) in{TEXT}? <text>",
        ),
        requests=(
            "Extract all email addresses from 'write to ann@example.com or bob@test.org'",
            "Find the emails in this text: contact sales@shop.io today",
            "List the e-mail addresses in 'a@b.io, c@d.io'",
            'Extract emails from "John <john@mail.net>"',
            "Get all email addresses out of the text 'nobody@nowhere.com'",
        ),
    ),
)
