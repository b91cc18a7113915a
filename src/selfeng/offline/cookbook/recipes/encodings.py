"""Recipes that encode, decode and hash."""

from selfeng.offline.cookbook.phrases import CONVERT, TEXT
from selfeng.offline.cookbook.recipe import Recipe

_BASE64 = "base[- ]?64"
_URL = "(url|uri|percent)"
_MORSE = "morse( code)?"
_WITH = "(with|using|by|in|to|into|as|via)"

ENCODINGS: tuple[Recipe, ...] = (
    Recipe(
        name="base64_encode",
        aliases=("encode_base64", "to_base64", "text_to_base64", "string_to_base64"),
        patterns=(
            f"{_BASE64}[- ]encode{TEXT}? <text>",
            f"encode{TEXT}? <text> {_WITH} {_BASE64}",
            f"{_BASE64}( encoding)? (of|for){TEXT}? <text>",
            f"{CONVERT}{TEXT}? <text> (to|into|in|as) {_BASE64}",
        ),
        requests=(
            "Encode 'hello world' as Base64",
            "Base64 encode the text 'secret'",
            "What is the base64 encoding of 'abc'?",
            "Convert the string 'user:password' to Base64",
            'Encode "data" in base 64',
        ),
        says="The Base64 text is {result}.",
    ),
    Recipe(
        name="base64_decode",
        aliases=("decode_base64", "from_base64", "base64_to_text", "base64_to_string"),
        patterns=(
            f"{_BASE64}[- ]decode{TEXT}? <text>",
            f"decode( the| this)? {_BASE64}([- ]encoded)?{TEXT}? <text>",
            f"decode{TEXT}? <text> (from|as|with|using|via) {_BASE64}",
            f"{CONVERT}( the| this)? {_BASE64}{TEXT}? <text> (to|into)( plain)? (text|a string|string)",
            f"{CONVERT}{TEXT}? <text> from {_BASE64}( to( plain)? text)?",
        ),
        requests=(
            "Decode the Base64 text 'aGVsbG8='",
            "Base64 decode 'c2VjcmV0'",
            "Decode 'YWJj' from base64",
            "Convert the base64 string 'ZGF0YQ==' to text",
            "Decode base64: dGVzdA==",
        ),
        says="The decoded text is {result}.",
    ),
    Recipe(
        name="url_encode",
        aliases=("encode_url", "percent_encode", "urlencode"),
        patterns=(
            f"{_URL}[- ]?encode{TEXT}? <text>",
            f"(encode|escape){TEXT}? <text> (for|for use in|as|in)( a| an)? {_URL}s?( encoding)?",
            f"{_URL}[- ]encoding (of|for){TEXT}? <text>",
        ),
        requests=(
            "URL encode 'hello world'",
            "Encode 'a&b=c' for a URL",
            "Percent-encode the text 'café'",
            "What is the URL encoding of 'x y/z'?",
            'Escape "50% off" for use in a URL',
        ),
        says="Encoded for a URL it is {result}.",
    ),
    Recipe(
        name="url_decode",
        aliases=("decode_url", "percent_decode", "urldecode"),
        patterns=(
            f"{_URL}[- ]?decode{TEXT}? <text>",
            f"decode( the| this)? {_URL}([- ]encoded)?{TEXT}? <text>",
            f"unescape( the| this)? {_URL}{TEXT}? <text>",
        ),
        requests=(
            "URL decode 'hello%20world'",
            "Decode the URL-encoded text 'a%26b%3Dc'",
            "Percent-decode 'caf%C3%A9'",
            "Decode this URL text: one+two",
            'Url-decode "100%25"',
        ),
        says="The decoded text is {result}.",
    ),
    Recipe(
        name="rot13_text",
        aliases=("rot13", "rot13_encode", "apply_rot13"),
        patterns=(
            f"(apply )?rot[- ]?13( to| of| encode| decode| encrypt| decrypt)?{TEXT}? <text>",
            f"(encode|decode|encrypt|decrypt|decipher|{CONVERT}){TEXT}? <text> (with|using|in|to|by|from|via) rot[- ]?13",
        ),
        requests=(
            "ROT13 'hello'",
            "Encode 'secret' with ROT13",
            "Apply rot13 to the text 'Why not?'",
            "Decode 'uryyb' using ROT-13",
            "What is the rot13 of 'abc'?",
        ),
        says="In ROT13 it is {result}.",
    ),
    Recipe(
        name="text_to_morse",
        aliases=("morse_encode", "encode_morse", "to_morse", "to_morse_code"),
        patterns=(
            f"({CONVERT}|encode|spell|say){TEXT}? <text> (in|into|to|as) {_MORSE}",
            f"<text:quoted> (in|into|to|as) {_MORSE}",
            f"{_MORSE} (for|of){TEXT}? <text>",
        ),
        requests=(
            "Convert 'SOS' to Morse code",
            "Write 'hello world' in Morse code",
            "Translate the word help into morse",
            "What is the Morse code for 'abc'?",
            'Encode "73" as Morse code',
        ),
        says="In Morse code it is {result}.",
    ),
    Recipe(
        name="morse_to_text",
        aliases=("morse_decode", "decode_morse", "from_morse", "from_morse_code"),
        patterns=(
            f"(decode|translate|read|convert|decipher)( the| this)?( {_MORSE})?( message| text| code)? <morse:morse>"
            f"( from {_MORSE})?( (to|into)( plain)? (text|english|letters|words))?",
            f"(what )?does( the)?( {_MORSE})? <morse:morse> mean( in {_MORSE})?",
            f"{_MORSE} to text <morse:morse>",
        ),
        requests=(
            "Decode the Morse code ... --- ...",
            "Translate '.... ..' from Morse code to text",
            "What does the morse code -- . mean?",
            "Convert the Morse message '.- / -...' to text",
            "Read this morse code: .... . .-.. .-.. ---",
        ),
        says="The Morse code reads {result}.",
    ),
    Recipe(
        name="sha256_hash",
        aliases=("sha256", "hash_sha256", "compute_sha256", "calculate_sha256"),
        patterns=(
            f"sha[- _]?256( hash| sum| checksum| digest)? (of|for){TEXT}? <text>",
            f"hash{TEXT}? <text> (with|using|by|as|via) sha[- _]?256",
            f"sha[- _]?256( hash)?{TEXT}? <text>",
        ),
        requests=(
            "What is the SHA-256 hash of 'hello'?",
            "SHA256 of 'abc'",
            "Hash the text 'password' with sha256",
            'Calculate the sha-256 checksum for "data"',
            "Get the SHA256 hash of the string 'openai'",
        ),
        says="The SHA-256 hash is {result}.",
    ),
)
