"""Recipes of percentages, interest and statistics."""

from selfeng.offline.cookbook.phrases import LIST
from selfeng.offline.cookbook.recipe import Recipe

_PERCENT = r"\s*(%|percent|per cent|pct)"
_ANNUAL = rf"{_PERCENT}( interest| annual interest| per year| a year| annually| yearly| p\.a\.)*"
_OFTEN = r"(,?( interest)?( is)?( compounded)? <compounds_per_year:frequency>)?"
_ON = "compound interest (on|for|of)( an? (investment|principal|principle|sum|amount|deposit|loan) of)? <principal>,?"
_RATE = rf"((at|with) )?(an? )?((annual|yearly|interest|rate|of) )*<annual_rate>{_ANNUAL}"
_GROWS = "(how much|what) (will|does|do|would|is) <principal> (grow|grow to|become|be|be worth|worth)"
_INTEREST = (
    f"{_ON} {_RATE}{_OFTEN},? (for|over|after|in) <years> years?{_OFTEN}",
    f"{_ON} (for|over|after|in) <years> years?,? {_RATE}{_OFTEN}",
    f"{_GROWS} (in|after) <years> years?,? {_RATE}{_OFTEN}",
    f"{_GROWS} {_RATE} (in|after|for|over) <years> years?{_OFTEN}",
)

FIGURES: tuple[Recipe, ...] = (
    Recipe(
        name="calculate_percentage",
        aliases=("percentage_of", "percent_of", "compute_percentage"),
        patterns=(
            rf"<percentage>{_PERCENT} (of|from) <number>",
            r"percentage <percentage>\s*%? of <number>",
            rf"(take|apply) <percentage>{_PERCENT} of <number>",
        ),
        says="{percentage}% of {number} is {result}.",
    ),
    Recipe(
        name="percentage_change",
        aliases=("calculate_percentage_change", "percent_change"),
        patterns=(
            "(percentage|percent|relative|%)( of)? (change|increase|decrease|growth|rise|drop|fall)( is it)? (from|between) "
            "<old> (to|and) <new>",
            "(by )?(how many percent|what percent(age)?) .{0,60}from <old> to <new>",
            "(change|increase|decrease|growth|rise|drop) from <old> to <new> (in percent|as a percentage|in %)",
        ),
        says="From {old} to {new} is a change of {result}%.",
    ),
    Recipe(
        name="compound_interest",
        aliases=("calculate_compound_interest",),
        patterns=_INTEREST,
    ),
    Recipe(
        name="sum_numbers",
        aliases=("add_numbers", "calculate_sum", "sum_list", "sum_of_numbers"),
        patterns=(
            f"(sum|total)( up)?( of)?{LIST}? <numbers>",
            f"add( up| together)?{LIST}? <numbers>( together| up)?",
        ),
        requests=(
            "What is the sum of 1, 2 and 3?",
            "Add up the numbers 10, 20, 30",
            "Sum [1.5, 2.5]",
            "Total of 4, 5 and 6",
            "Add 17 and 25",
        ),
        says="The sum is {result}.",
    ),
    Recipe(
        name="calculate_mean",
        aliases=("mean", "calculate_average", "average", "compute_mean", "compute_average", "mean_of_numbers"),
        patterns=(f"(arithmetic )?(mean|average|avg)( value)?( (of|for|from))?{LIST}? <numbers>",),
        requests=(
            "What is the mean of 1, 2 and 3?",
            "Average of [10, 20, 40]",
            "Calculate the arithmetic mean of the numbers 2.5, 3.5 and 6",
            "Find the average of 7, 8, 9",
            "Mean of -5 and 5",
        ),
        says="The mean is {result}.",
    ),
    Recipe(
        name="calculate_median",
        aliases=("median", "find_median", "compute_median"),
        patterns=(f"median( value)?( (of|for|from|in))?{LIST}? <numbers>",),
        requests=(
            "What is the median of 3, 1 and 2?",
            "Median of [5, 9, 1, 7]",
            "Find the median value of the numbers 10, 2, 38",
            "Calculate the median of 1.5, 2.5",
            "Median of the list [4, 4, 8]",
        ),
        says="The median is {result}.",
    ),
    Recipe(
        name="standard_deviation",
        aliases=("calculate_standard_deviation", "stdev", "compute_standard_deviation"),
        patterns=(
            (f"population (standard deviation|std dev|stdev|std) (of|for){LIST}? <numbers>", {"population": True}),
            f"(sample )?(standard deviation|std dev|stdev|std) (of|for){LIST}? <numbers>",
        ),
        requests=(
            "What is the standard deviation of 2, 4, 4, 5?",
            "Standard deviation of [1, 2, 3]",
            "Calculate the population standard deviation of 2, 4, 4, 4, 5, 5, 7, 9",
            "Find the sample standard deviation for the numbers 10, 12, 23",
            "Stdev of 1.5, 2.5, 4",
        ),
        says="The standard deviation is {result}.",
    ),
    Recipe(
        name="summarize_numbers",
        aliases=("describe_numbers", "number_statistics", "calculate_statistics", "summarize_statistics", "statistics_summary"),
        patterns=(
            rf"(summari[sz]e|describe|analy[sz]e)({LIST}|( the| this)? data ?set)? <numbers>",
            rf"((show|give) )?(all )?(the )?(descriptive |summary |basic )*(statistics|stats|statistical summary|summary)( for| of| on)"
            rf"({LIST}|( the| this)? data ?set)? <numbers>",
        ),
    ),
)
