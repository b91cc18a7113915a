"""Recipes over dates."""

from selfeng.offline.cookbook.phrases import WHETHER
from selfeng.offline.cookbook.recipe import Recipe

_SOMEBODY = "(somebody|someone|a person|one|you|he|she|they|i)"
_WHICH_DAY = "((what|which) )?((date|day) (is|was|will be|comes|lies) )?(the )?((date|day) )?"

DATES: tuple[Recipe, ...] = (
    Recipe(
        name="days_between",
        aliases=("days_between_dates", "date_difference", "count_days_between"),
        patterns=(
            "how many days( are| lie| pass| is it| were)?( there)? (between|from) <start:date> (and|to|until|till) <end:date>",
            "((number of|count( the)?) )?days (between|from) <start:date> (and|to|until|till) <end:date>",
            "(difference|distance|time)( in days)? between <start:date> and <end:date>( in days)?",
            "how many days (is|are) <end:date> after <start:date>",
        ),
        says="From {start} to {end} it is {result} days.",
    ),
    Recipe(
        name="day_of_week",
        aliases=("weekday", "get_weekday", "weekday_name", "find_weekday", "get_day_of_week"),
        patterns=(
            "(weekday|day of the week)( is| was| of| for| on)* <day:date>( on)?",
            "(on )?(what|which) (weekday|day)( of the week)? (is|was|does|did|will|falls|fell)( it)?( on)? <day:date>( fall( on)?| be)?",
        ),
        requests=(
            "What day of the week is 2024-03-15?",
            "Which weekday was July 20, 1969?",
            "Find the day of the week of 2000-01-01",
            "On which day does 2025-12-24 fall?",
            "What weekday is 1 May 2024?",
        ),
        says="{day} is a {result}.",
    ),
    Recipe(
        name="add_days",
        aliases=("add_days_to_date", "date_plus_days", "shift_date"),
        patterns=(
            f"{_WHICH_DAY}<days> days (after|from|later than|since) <day:date>",
            f"{_WHICH_DAY}<days:negated> days before <day:date>",
            "add <days> days to <day:date>",
            "(subtract|take) <days:negated> days from <day:date>",
            r"<day:date> (plus|\+) <days> days",
            r"<day:date> (minus|-) <days:negated> days",
        ),
        requests=(
            "What date is 30 days after 2024-01-15?",
            "Add 90 days to 2024-06-01",
            "Which day is 10 days before 2024-03-05?",
            "Subtract 7 days from January 3, 2025",
            "2024-12-31 plus 1 days",
        ),
        says="That is {result}.",
    ),
    Recipe(
        name="is_leap_year",
        aliases=("check_leap_year", "leap_year"),
        patterns=(
            "(is|was|will)( the year)? <year>( be)? a leap[- ]?year",
            f"{WHETHER}( the year)? <year> (is|was) a leap[- ]?year",
        ),
        requests=(
            "Is 2024 a leap year?",
            "Was 1900 a leap year?",
            "Check whether 2000 is a leap year",
            "Will 2028 be a leap year?",
            "Tell me if the year 2023 was a leap year",
        ),
        says=("Yes, {year} is a leap year.", "No, {year} is not a leap year."),
    ),
    Recipe(
        name="days_in_month",
        aliases=("month_length", "get_days_in_month", "number_of_days_in_month"),
        patterns=(
            "(how many|number of) days( are| are there| were)? (in|of) <month:month>,?( of)? <year>",
            "how many days (did|does|will|has|had) <month:month>,?( of)? <year>( have)?",
        ),
        requests=(
            "How many days are in February 2024?",
            "Number of days in April 2023",
            "How many days does March 2025 have?",
            "How many days are there in Feb 1900?",
            "How many days did December 1999 have?",
        ),
        says="This month has {result} days.",
    ),
    Recipe(
        name="age_on_date",
        aliases=("calculate_age", "age_at_date"),
        patterns=(
            f"how old (is|was|will|would|am) {_SOMEBODY}( be)?( who (is|was))?( when)? born (on |in )?<birth_date:date>,?( be)? "
            "(on|at|as of|by) <on_date:date>",
            f"age (on|at|as of) <on_date:date> of {_SOMEBODY}( who was)? born (on )?<birth_date:date>",
            f"age of {_SOMEBODY}( who was)? born (on )?<birth_date:date>,? (on|at|as of) <on_date:date>",
        ),
        requests=(
            "How old is someone born on 1990-05-17 on 2024-06-01?",
            "What is the age of a person born 1985-12-31 on 2020-01-01?",
            "How old was somebody born on March 3, 2000 on 2018-03-02?",
            "What is the age on 2024-07-04 of someone born on 1976-07-04?",
            "How old will a person who was born on 2010-01-15 be on 2030-01-01?",
        ),
        says="That is an age of {result} years.",
    ),
    Recipe(
        name="iso_week",
        aliases=("iso_week_number", "week_number", "get_week_number", "calendar_week"),
        patterns=(
            "((in )?(what|which) )?(iso )?(calendar )?week( number)?( is| of| for| was| on| lies| falls| has)* <day:date>( in| have)?",
            "(week|calendar week) number (of|for) <day:date>",
        ),
        requests=(
            "What is the ISO week of 2024-03-15?",
            "Which week number is 2021-01-01?",
            "Calendar week of December 30, 2024",
            "In which calendar week is 2023-06-07?",
            "Get the ISO week number for 2022-11-11",
        ),
        says="{day} lies in week {result}.",
    ),
)
