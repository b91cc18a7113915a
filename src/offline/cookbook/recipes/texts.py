"""Recipes over texts."""

from src.offline.cookbook.phrases import CONVERT, TEXT, WHETHER, converted, counted
from src.offline.cookbook.recipe import Recipe

_UPPER = "(all )?(upper[- ]?case|capital letters|capitals|caps)( letters)?"
_LOWER = "(all )?(lower[- ]?case|small letters)( letters)?"
_CAESAR = "(with|using|by|in|from)( a| the)? caesar('s)?( cipher| code| shift)?"
_KEY = ",?( with| and| using| by| of)*( a| the)?( shift| key| offset)?( of| by)? <shift>( places| positions| letters)?"
_CAMEL = "(camel|pascal)[ _-]?case"
_SNAKE = "snake[ _-]?case"
_PART = "( the (letter|word|character|substring|text|string))?"
_AT_MOST = "(to|after|at)( a (maximum|length) of| at most| the first| length)?"
_IDENTIFIER = "( the)?( (camel|pascal|snake)[ _-]?case)?( (variable|function|name|identifier|string|text|word))*"

TEXTS: tuple[Recipe, ...] = (
    Recipe(
        name="reverse_string",
        aliases=("reverse_text", "string_reverse", "reverse_str", "text_reverse", "reversed_string"),
        patterns=(
            f"reverse{TEXT} <text>",
            "reverse <text:word>",
            f"(write|spell|say|print|read|turn){TEXT}? <text> (backwards?|in reverse|reversed|from back to front|around)",
            "<text:word>( (spelled|spelt|written|read))? (backwards?|reversed|in reverse)( order)?",
            f"(reverse|reversal|mirror image) of{TEXT}? <text>",
            f"reversed? (version|form) of{TEXT}? <text>",
            f"(flip|mirror|invert){TEXT}( around| backwards)? <text>",
            f"reverse( the)?( order of)?( all)?( the)? (letters|characters) (of|in){TEXT}? <text>",
            "reverse( a| any| some| my)? (strings?|texts?)",
        ),
        requests=(
            "Reverse the string 'abc'",
            "Reverse 'OpenAI'",
            "Write the word stressed backwards",
            'What is the reverse of "drawer"?',
            "Flip the text 'good morning'",
        ),
        says="{text} reversed is {result}.",
    ),
    Recipe(
        name="reverse_words",
        aliases=("reverse_word_order",),
        patterns=(
            f"(reverse|invert|flip)( the)?( order of)?( the)? words (of|in){TEXT}? <text>",
            f"(reverse|invert|flip)( the)? word order (of|in){TEXT}? <text>",
        ),
        requests=(
            "Reverse the words in 'one two three'",
            "Reverse the order of the words in the sentence 'the sky is blue'",
            "Invert the word order of 'hello big world'",
            'Flip the words in "first second"',
            "Reverse the word order in the phrase 'to be or not'",
        ),
        says="With its words in reverse order, {text} is {result}.",
    ),
    Recipe(
        name="title_case_text",
        aliases=("to_title_case", "title_case", "capitalize_words"),
        patterns=(
            *converted("title[- ]?case"),
            f"title[- ]?case{TEXT}? <text>",
            f"capitali[sz]e( the)?( first letters?( of)?)?( each| every| all)?( the)? words? (of|in){TEXT}? <text>",
        ),
        requests=(
            "Convert 'the great gatsby' to title case",
            "Title case 'hello world'",
            "Capitalize each word in 'war and peace'",
            "Put the sentence 'a brief history of time' in title case",
            'Write "the hobbit" in title case',
        ),
        says="In title case it is {result}.",
    ),
    Recipe(
        name="uppercase_text",
        aliases=("to_uppercase", "uppercase", "convert_to_uppercase", "to_upper_case"),
        patterns=(*converted(_UPPER), f"upper[- ]?case{TEXT}? <text>", f"make{TEXT}? <text> {_UPPER}"),
        requests=(
            "Convert 'hello world' to upper case",
            "Uppercase 'quiet please'",
            "Write the word stop in capital letters",
            'Turn "make it loud" into uppercase',
            "Make 'warning' all caps",
        ),
        says="In capital letters it is {result}.",
    ),
    Recipe(
        name="lowercase_text",
        aliases=("to_lowercase", "lowercase", "convert_to_lowercase", "to_lower_case"),
        patterns=(*converted(_LOWER), f"lower[- ]?case{TEXT}? <text>", f"make{TEXT}? <text> {_LOWER}"),
        requests=(
            "Convert 'HELLO World' to lower case",
            "Lowercase 'STOP SHOUTING'",
            "Write the word NASA in small letters",
            'Turn "LOUD" into lowercase',
            "Make 'README' lowercase",
        ),
        says="In small letters it is {result}.",
    ),
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
        name="caesar_encrypt",
        aliases=("caesar_cipher", "caesar_cipher_encrypt", "encrypt_caesar", "caesar_encode"),
        patterns=(
            f"(encrypt|encode|encipher|cipher){TEXT}? <text> {_CAESAR}{_KEY}",
            f"(encrypt|encode|encipher|cipher){TEXT}? <text> {_CAESAR}",
            f"caesar[- ](cipher|encrypt|encode|encipher|shift){TEXT}? <text>{_KEY}",
            f"caesar cipher (of|for){TEXT}? <text>{_KEY}",
            f"(apply|use)( a| the)? caesar cipher{_KEY} (to|on){TEXT}? <text>",
        ),
        requests=(
            "Encrypt 'hello' with a Caesar cipher and shift 3",
            "Encode the text 'attack at dawn' using the Caesar cipher with a shift of 5",
            "Caesar cipher 'secret' with shift 7",
            "Apply a Caesar cipher with shift 1 to 'abc'",
            "Encrypt the message 'Meet me' with Caesar shift 13",
        ),
        says="{text} encrypted with a shift of {shift} is {result}.",
    ),
    Recipe(
        name="caesar_decrypt",
        aliases=("caesar_cipher_decrypt", "decrypt_caesar", "caesar_decode", "decode_caesar"),
        patterns=(
            f"(decrypt|decode|decipher){TEXT}? <text> {_CAESAR}{_KEY}",
            f"(decrypt|decode|decipher){TEXT}? <text> {_CAESAR}",
            f"caesar[- ](decrypt|decode|decipher){TEXT}? <text>{_KEY}",
            f"(decrypt|decode|decipher)( the| this)? caesar( cipher| code)?{TEXT}? <text>{_KEY}",
        ),
        requests=(
            "Decrypt 'khoor' with a Caesar cipher and shift 3",
            "Decode the text 'fyyfhp' using the Caesar cipher with a shift of 5",
            "Caesar decrypt 'zljyla' with shift 7",
            "Decipher the message 'bcd' from Caesar shift 1",
            "Decode the Caesar cipher 'Zrrg zr' with key 13",
        ),
        says="{text} decrypted with a shift of {shift} is {result}.",
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
    Recipe(
        name="camel_to_snake",
        aliases=("camel_to_snake_case", "camelcase_to_snakecase", "to_snake_case"),
        patterns=(
            f"{CONVERT}{_IDENTIFIER} <text:word>( from {_CAMEL})? (to|into|in|as) {_SNAKE}",
            f"<text:word> (to|into|in|as) {_SNAKE}",
            f"({CONVERT} )?{_CAMEL} to {_SNAKE} <text:word>",
        ),
        requests=(
            "Convert 'camelCaseName' to snake case",
            "Change HelloWorld into snake_case",
            "Turn the variable name parseHTTPResponse into snake case",
            "Write getUserId in snake_case",
            "Convert firstName from camelCase to snake_case",
        ),
        says="In snake case it is {result}.",
    ),
    Recipe(
        name="snake_to_camel",
        aliases=("snake_to_camel_case", "snakecase_to_camelcase", "to_camel_case"),
        patterns=(
            f"{CONVERT}{_IDENTIFIER} <text:word>( from {_SNAKE})? (to|into|in|as) camel[ _-]?case",
            "<text:word> (to|into|in|as) camel[ _-]?case",
            f"({CONVERT} )?{_SNAKE} to camel[ _-]?case <text:word>",
        ),
        requests=(
            "Convert 'snake_case_name' to camel case",
            "Change max_retry_count into camelCase",
            "Turn the variable name user_id into camel case",
            "Write first_name in camelCase",
            "Convert is_valid from snake_case to camelCase",
        ),
        says="In camel case it is {result}.",
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
        name="make_acronym",
        aliases=("create_acronym", "generate_acronym", "acronym", "get_acronym"),
        patterns=(
            f"((make|create|build|form|generate|write) )?(an |the )?(acronym|initials) (of|for|from|out of){TEXT}? <text>",
            f"(turn|convert|make|change){TEXT}? <text> (into|to) an acronym",
        ),
        requests=(
            "Make an acronym from 'as soon as possible'",
            "What is the acronym of 'Portable Network Graphics'?",
            "Create an acronym for the phrase 'laughing out loud'",
            "Turn 'random access memory' into an acronym",
            'Acronym for "World Health Organization"',
        ),
        says="The acronym of {text} is {result}.",
    ),
    Recipe(
        name="truncate_text",
        aliases=("shorten_text", "truncate_string"),
        patterns=(
            f"(truncate|shorten|cut|trim|abbreviate){TEXT}? <text> {_AT_MOST} <length>( characters| chars| letters)?",
            f"(truncate|shorten|cut|trim) to <length>( characters| chars| letters)?{TEXT}? <text>",
        ),
        requests=(
            "Truncate 'hello wonderful world' to 10 characters",
            "Shorten the text 'a very long headline indeed' to 12 characters",
            "Cut 'abcdefghij' to 5 chars",
            "Truncate the sentence 'the quick brown fox jumps' after 15 characters",
            'Trim "lorem ipsum dolor" to at most 8 letters',
        ),
        says="Shortened to at most {length} characters it is {result}.",
    ),
    Recipe(
        name="replace_text",
        aliases=("replace_substring", "find_and_replace", "replace_in_text"),
        patterns=(
            f"replace( all| every| each)?( the)?( occurrences? of)?( the (word|letter|text|character))? <old:token> (with|by) <new:token> "
            f"in{TEXT}? <text>",
            f"in{TEXT}? <text>,? replace( all| every| each)?( occurrences? of)? <old:token> (with|by) <new:token>",
        ),
        requests=(
            "Replace 'cats' with 'dogs' in 'cats and cats'",
            "Replace every a with o in banana",
            "In 'a-b-c' replace '-' with '+'",
            "Replace all occurrences of 'foo' by 'bar' in the text 'foo fighters'",
            "Replace the word old with new in 'old habits'",
        ),
        says="With {old} replaced it is {result}.",
    ),
    Recipe(
        name="slugify_text",
        aliases=("slugify", "make_slug", "create_slug", "generate_slug"),
        patterns=(
            (f"slugify{TEXT}? <text> (with|using) underscores", {"separator": "_"}),
            f"slugify{TEXT}? <text>",
            f"((make|create|generate|build) )?(a |an |the )?((url|seo)[- ])?slug (from|of|for|out of){TEXT}? <text>",
            *converted("(a |an )?(url[- ])?slug"),
            f"make{TEXT}? <text> into a (url )?slug",
        ),
        says="The slug is {result}.",
    ),
)
