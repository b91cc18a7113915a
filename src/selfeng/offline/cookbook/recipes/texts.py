"""Recipes that change texts."""

from selfeng.offline.cookbook.phrases import CONVERT, TEXT, converted
from selfeng.offline.cookbook.recipe import Recipe

_UPPER = "(all )?(upper[- ]?case|capital letters|capitals|caps)( letters)?"
_LOWER = "(all )?(lower[- ]?case|small letters)( letters)?"
_CAESAR = "(with|using|by|in|from)( a| the)? caesar('s)?( cipher| code| shift)?"
_KEY = ",?( with| and| using| by| of)*( a| the)?( shift| key| offset)?( of| by)? <shift>( places| positions| letters)?"
_CAMEL = "(camel|pascal)[ _-]?case"
_SNAKE = "snake[ _-]?case"
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
            r"reverse( this| the following)?( for me)?:\s*<text>",
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
