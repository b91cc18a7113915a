"""Phrases that the patterns of many recipes share."""

KIND_OF_TEXT = "(string|word|text|phrase|sentence|title|heading|headline|name|message|line|paragraph|password|filename)"
TEXT = f"( (the |this |a )?(following |given )?{KIND_OF_TEXT})"
"""A noun that announces a text, with the space before it."""
LIST = (
    "( (the |this |these |all )?(following |given )?(list|array|numbers?|integers|values|items|elements|entries|words|names|data)"
    "( of( (numbers|values|items|words))?)?)"
)
"""A noun that announces a list, with the space before it."""
WHETHER = "((check|test|tell|verify|see|say|decide)( me)? )?(if|whether)"
TABLE = "( (the |this |a )?(following |given )?(csv|table)( table| text| data| file| string)?)"
JSON = "( (the |this |a )?(following |given )?json( text| data| object| string| document)?)"
_HOW_MANY = "(how many|(count( up| of)?|number of|count( the)? number of)( all)?( the)?)"
CONVERT = "(convert(ing)?|change|turn|transform|translate|rewrite|put|write)"


def converted(target: str) -> tuple[str, ...]:
    """Wordings that ask to turn a text into the target."""
    return (
        f"{CONVERT}{TEXT} <text> (to|into|in|as) {target}",
        f"{CONVERT} <text:word> (to|into|in|as) {target}",
        f"<text:quoted> (to|into|in|as) {target}",
        f"{CONVERT}{TEXT} (to|into|in|as) {target} <text>",
    )


def counted(thing: str) -> tuple[str, ...]:
    """Wordings that ask for the number of some things in a text."""
    return (
        f"{_HOW_MANY} {thing}( are| are there| occur)? (in|of|from){TEXT}? <text>",
        f"how many {thing} (does|do){TEXT}? <text> (have|contain|consist of)",
        f"how many {thing} (does|do){TEXT} (have|contain) <text>",
        f"count( the)? {thing} <text:quoted>",
    )
