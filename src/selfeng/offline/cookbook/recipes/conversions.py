"""Recipes that convert units and notations."""

from selfeng.offline.cookbook.recipe import Recipe

_DEGREES = r"\s*((°|º|degrees?|deg\.?)\s*)?"
_CELSIUS = "(c|celsius|centigrade)"
_FAHRENHEIT = "(f|fahrenheit)"
_KILOGRAMS = "(kgs?|kilos?|kilograms?|kilogrammes?)"
_POUNDS = "(lbs?|pounds?)"
_VERB = "((convert(ing)?|change|turn|transform|translate|express|write|show|format) )?"
_HOW = "((convert(ing)?|change|turn|transform|how (long|far|tall|high|wide|deep|heavy|hot|warm|cold) (is|are)) )?"
_TO = "(to|in|into|as)"
_RGB = r"\(?\s*<red>[\s,]+<green>[\s,]+<blue>\s*\)?"
_COLOR = "(colou?r|code|notation|value|format|string)s?"


def _converted(name: str, source: str, target: str, mark: str = r"\s*") -> tuple[str, ...]:
    """Wordings that ask for a quantity in another unit; `mark` may stand before either unit."""
    return (
        rf"{_HOW}<{name}>{mark}{source} {_TO}{mark}{target}",
        rf"how many{mark}{target} (are|is|in|make|equal)( there)?( in)? <{name}>{mark}{source}",
        rf"(convert )?(from )?{source} to {target}( for| of)? <{name}>",
    )


CONVERSIONS: tuple[Recipe, ...] = (
    Recipe(
        name="convert_length",
        aliases=("length_converter", "convert_distance", "convert_length_units"),
        patterns=(
            rf"{_HOW}<value>\s*<from_unit:length> {_TO} <to_unit:length>",
            r"how many <to_unit:length> (are|is|in|make|equal)( there)?( in)? <value>\s*<from_unit:length>",
            (r"how many <to_unit:length> (are|is|in|make|equal)( there)?( in)? an? <from_unit:length>", {"value": 1}),
            r"(convert )?<from_unit:length> to <to_unit:length>( for| of)? <value>",
        ),
        says="{value} {from_unit} = {result} {to_unit}",
    ),
    Recipe(
        name="celsius_to_fahrenheit",
        aliases=("convert_celsius_to_fahrenheit", "c_to_f"),
        patterns=_converted("celsius", _CELSIUS, _FAHRENHEIT, _DEGREES),
        requests=(
            "Convert 25 degrees Celsius to Fahrenheit",
            "What is 100°C in Fahrenheit?",
            "How many degrees Fahrenheit are -40 degrees Celsius?",
            "36.6 C to F",
            "How hot is 30 Celsius in Fahrenheit?",
        ),
        says="{celsius} °C is {result} °F.",
    ),
    Recipe(
        name="fahrenheit_to_celsius",
        aliases=("convert_fahrenheit_to_celsius", "f_to_c"),
        patterns=_converted("fahrenheit", _FAHRENHEIT, _CELSIUS, _DEGREES),
        requests=(
            "Convert 77 degrees Fahrenheit to Celsius",
            "What is 212°F in Celsius?",
            "How many degrees Celsius are 32 degrees Fahrenheit?",
            "98.6 F to C",
            "How warm is 80 Fahrenheit in Celsius?",
        ),
        says="{fahrenheit} °F is {result} °C.",
    ),
    Recipe(
        name="kilograms_to_pounds",
        aliases=("kg_to_pounds", "kg_to_lbs", "kg_to_lb", "convert_kg_to_pounds"),
        patterns=_converted("kilograms", _KILOGRAMS, _POUNDS),
        requests=(
            "Convert 70 kg to pounds",
            "How many pounds are 2.5 kilograms?",
            "What is 100 kilos in lbs?",
            "5 kilograms in pounds",
            "How heavy is 82 kg in pounds?",
        ),
        says="{kilograms} kg is {result} pounds.",
    ),
    Recipe(
        name="pounds_to_kilograms",
        aliases=("pounds_to_kg", "lbs_to_kg", "lb_to_kg", "convert_pounds_to_kg"),
        patterns=_converted("pounds", _POUNDS, _KILOGRAMS),
        requests=(
            "Convert 150 pounds to kg",
            "How many kilograms are 10 lbs?",
            "What is 2,000 pounds in kilograms?",
            "1 lb in kg",
            "How heavy is 180 pounds in kilos?",
        ),
        says="{pounds} pounds is {result} kg.",
    ),
    Recipe(
        name="hex_to_rgb",
        aliases=("convert_hex_to_rgb", "hex_color_to_rgb"),
        patterns=(
            rf"{_VERB}(the )?(hex(adecimal)? )?({_COLOR} )*<color:color> {_TO}( an?)? rgb( {_COLOR})*",
            rf"rgb( {_COLOR})* (of|for)( the)?( hex(adecimal)?)?( {_COLOR})* <color:color>",
            r"hex to rgb <color:color>",
        ),
        requests=(
            "Convert #ff8800 to RGB",
            "What is the hex color #336699 in RGB?",
            "RGB values of #fff",
            "Turn the color 00ff00 into rgb",
            "Convert hex color '#abcdef' to RGB values",
        ),
        says="{color} has the red, green and blue parts {result}.",
    ),
    Recipe(
        name="rgb_to_hex",
        aliases=("convert_rgb_to_hex", "rgb_color_to_hex"),
        patterns=(
            rf"{_VERB}(the )?({_COLOR} )?(rgb( {_COLOR})?\s*)?{_RGB} {_TO}( a)? hex(adecimal)?( {_COLOR})*",
            rf"hex(adecimal)?( {_COLOR})* (of|for) (rgb( {_COLOR})?\s*)?{_RGB}",
        ),
        requests=(
            "Convert RGB 255, 136, 0 to hex",
            "What is rgb(51, 102, 153) in hexadecimal?",
            "Hex color for RGB (0, 0, 0)",
            "Turn the color 10, 20, 30 into a hex code",
            "Change rgb 255 255 255 to hex",
        ),
        says="The color is {result}.",
    ),
    Recipe(
        name="format_minutes",
        aliases=("minutes_to_hours", "minutes_to_hhmm", "convert_minutes", "minutes_to_hours_and_minutes"),
        patterns=(
            rf"{_VERB}<minutes> (minutes|mins?) {_TO}( (hours( and minutes)?|h+:mm)( format)?)",
            r"how many hours( and minutes)? (are|is|in|make)( there in)? <minutes> (minutes|mins?)",
        ),
        requests=(
            "Convert 135 minutes to hours and minutes",
            "How many hours and minutes are 90 minutes?",
            "Write 65 minutes as h:mm",
            "200 minutes in hours",
            "Express 1500 minutes in hours and minutes",
        ),
        says="{minutes} minutes are {result} (hours:minutes).",
    ),
    Recipe(
        name="format_bytes",
        aliases=("human_readable_size", "bytes_to_human_readable", "format_file_size", "humanize_bytes"),
        patterns=(
            rf"{_VERB}<size> bytes {_TO}( an?)? (human[- ])?readable( form(at)?| size| units?| way)?",
            r"human[- ]readable( form(at)?| size)? (of|for) <size> bytes",
            r"(how (big|large) (is|are) )?<size> bytes",
        ),
        requests=(
            "Convert 1536 bytes to a human-readable size",
            "Format 1234567 bytes in human readable form",
            "How much are 5242880 bytes?",
            "Human-readable size of 1,073,741,824 bytes",
            "Show 2048 bytes in readable units",
        ),
        says="{size} bytes are {result}.",
    ),
)
