"""Small talk: greetings, thanks, and what the offline model says about itself."""

import re

KNOWLEDGE = (
    "I am the built-in **offline model**: no language model, but a cookbook of fixed recipes. I "
    "can build and run tools for\n\n"
    "- **text**: reverse, title case, slugs, counting words, vowels and letters, palindromes, "
    "anagrams, Caesar cipher, e-mail addresses\n"
    "- **numbers**: percentages, mean, median, primes, factorials, Fibonacci, Roman numerals, "
    "number bases, arithmetic\n"
    "- **dates**: days between dates, weekdays, leap years, ages, ISO weeks\n"
    "- **lists**: sort, remove duplicates, chunk, flatten, intersect, rotate\n"
    "- **conversions**: temperatures, lengths, weights, colors, minutes, bytes\n"
    "- **CSV and JSON**: convert, sort, sum, summarize, query, pretty-print, validate\n"
    "- **files**: plot two columns of an attached CSV file, chart all of it, add up a column\n"
    "- **encodings**: Base64, URL, ROT13, Morse code, SHA-256\n"
    "- **scripts**: one that prints a text, squares, a multiplication table or FizzBuzz, written "
    "to a file and run\n\n"
    "For anything else, connect a language model in the settings: one with a key, or a local "
    "server such as Ollama."
)
_KNOWLEDGE_IN_GERMAN = (
    "Hier antwortet das eingebaute **Offline-Modell**: kein Sprachmodell, sondern ein Kochbuch mit "
    "festen Rezepten. Auf Deutsch versteht es Fragen nach\n\n"
    "- **Zahlen**: Prozente, Mittelwert, Median, Summe, Primzahlen, Fakultät, Fibonacci, römische "
    "Zahlen, Wurzeln\n"
    "- **Text**: umdrehen, Wörter und Vokale zählen, Palindrome, Groß- und Kleinbuchstaben, "
    "Morsealphabet, Base64, SHA-256\n"
    "- **Datum**: Tage zwischen zwei Tagen, Wochentage, Schaltjahre\n"
    "- **Listen**: sortieren, Duplikate entfernen\n"
    "- **Umrechnen**: Celsius und Fahrenheit, Kilometer und Meilen, Kilogramm und Pfund\n"
    "- **Dateien**: zwei Spalten einer CSV-Datei zeichnen, eine Spalte summieren, CSV in JSON "
    "umwandeln\n"
    "- **Skripte**: eines, das Quadratzahlen ausgibt\n\n"
    "Für alles andere lässt sich in den Einstellungen ein Sprachmodell verbinden: eines mit "
    "Schlüssel oder ein Server auf diesem Rechner wie Ollama."
)
NEEDS_MODEL = (
    "This needs a language model, which can be connected in the settings; the built-in offline "
    "model has no recipe for it.",
    "Dafür ist ein Sprachmodell nötig, das sich in den Einstellungen verbinden lässt; das "
    "eingebaute Offline-Modell hat kein Rezept dafür.",
)
"""The reply to a request that no recipe serves, in English and in German."""
_EXAMPLE = "Try “Reverse the string 'hello world'”, for instance."
_REPLIES = (
    (
        r"(?:hi|hello|hey|greetings|good (?:morning|afternoon|evening|day)|howdy)(?: there| "
        r"again| everyone)?(?:,? how are you)?|"
        r"how are you(?: doing)?",
        f"Hello! Ask me for something to compute. {_EXAMPLE}",
    ),
    (
        r"(?:many )?(?:thanks|thank you|thx|cheers)(?: a lot| so much| very much| again)?(?:,? "
        r"(?:great|good|nice|perfect).*)?|"
        r"(?:great|cool|nice|perfect|awesome|well done|okay|ok|good job)(?:,? (?:thanks|thank "
        r"you|job|work))?(?: a lot| so much)?",
        "You're welcome!",
    ),
    (
        r"(?:good)?bye(?: bye)?|see you(?: later| soon)?|good night",
        "Goodbye! The tools that were built stay in the library.",
    ),
    (r"never ?mind|forget it|cancel|stop|nothing|no(?:,? (?:thanks|thank you))?", "All right."),
    (
        r"(?:who|what) are you|what (?:can|do) you (?:do|know)|help(?: me)?|what can i "
        r"(?:ask|do)(?: you| here)?|"
        r"how do(?:es)? (?:you|this) work|what is this",
        KNOWLEDGE,
    ),
    (
        r"(?:hallo|hi|guten (?:morgen|tag|abend)|servus|moin|grüß gott)(?:,? wie geht'?s?)?",
        "Hallo! Hier lässt sich etwas berechnen, zum Beispiel „Wie viel sind 15 Prozent von 300?“.",
    ),
    (r"(?:vielen |besten )?dank(?:e)?(?: schön| sehr| dir| ihnen)?", "Gern geschehen!"),
    (r"tschüss|auf wiedersehen|bis (?:bald|später)", "Auf Wiedersehen! Die Werkzeuge bleiben."),
    (
        r"(?:wer|was) (?:bist du|sind sie)|was (?:kannst du|können sie|kann ich (?:hier )?fragen)|"
        r"hilfe|wie (?:funktioniert|geht) (?:das|dies)",
        _KNOWLEDGE_IN_GERMAN,
    ),
)


def reply_to(request: str) -> str | None:
    """The reply to a greeting, thanks, a goodbye or a question about the model itself; None for
    anything else.
    """
    plain_request = " ".join(re.sub(r"[!?.,;:)(\s]+$", "", request.strip()).split())
    return next(
        (
            reply
            for wording, reply in _REPLIES
            if re.fullmatch(wording, plain_request, re.IGNORECASE)
        ),
        None,
    )
