"""Recipes over single numbers: arithmetic, primes, notations."""

from selfeng.offline.cookbook.phrases import CONVERT, LIST, WHETHER
from selfeng.offline.cookbook.recipe import Recipe

_BASED = "((convert(ing)?|change|translate|write|express) )?(the )?(number )?"
_TO_BASE = "(to|in|into|as)( a)? <to_base:base>( number)?"
_ROMAN = "roman( numerals?| numbers?)?"
_NUMBER = "(a |an )?((arabic|decimal|ordinary|normal) )?(number|numeral|integer|decimal|digit)s?"

NUMBERS: tuple[Recipe, ...] = (
    Recipe(
        name="evaluate_expression",
        aliases=("evaluate_arithmetic", "calculate_expression", "calculator"),
        patterns=(
            r"((evaluate|solve)( the)?( (expression|term|arithmetic expression|sum))? )?<expression:arithmetic>\s*=?",
            "(value|result) of( the)?( (expression|term))? <expression:arithmetic>",
            "(evaluate|solve)( the| this)?( (expression|term|arithmetic expression)) <expression:arithmetic>",
        ),
        requests=(
            "Calculate 2 + 3 * 4",
            "What is (17 - 5) / 4?",
            "Evaluate the expression 2 ** 10 - 1",
            "Compute 12 times 12",
            "What is 100 divided by 8?",
        ),
        says="{expression} = {result}",
    ),
    Recipe(
        name="is_prime",
        aliases=("check_prime", "is_prime_number", "prime_check"),
        patterns=(
            "is( the number)? <number> (a )?prime( number)?( or not)?",
            f"{WHETHER}( the number)? <number> is( a)? prime( number)?",
            "(test|check) <number> for primality",
            "primality (test )?(of|for) <number>",
        ),
        says=("Yes, {number} is a prime number.", "No, {number} is not a prime number."),
    ),
    Recipe(
        name="prime_factors",
        aliases=("prime_factorization", "factorize", "factorize_number", "factor_number"),
        patterns=(
            "prime (factors|factori[sz]ation|divisors) (of|for)( the number)? <number>",
            "(factori[sz]e|factor)( the number)? <number>( into( its| the)? (primes?|prime factors))?",
            "(break|decompose|split)( the number)? <number>( down| up)? into( its)? (primes|prime factors)",
        ),
        says="The prime factors of {number} are {result}.",
    ),
    Recipe(
        name="list_primes",
        aliases=("primes_up_to", "generate_primes", "find_primes", "sieve_of_eratosthenes"),
        patterns=(
            "((list|generate) )?(all )?(the )?(primes|prime numbers) (up to|until|through|not greater than|<=) <limit>",
            "((list|generate) )?(all )?(the )?(primes|prime numbers) (below|under|less than|smaller than|<) <limit:exclusive>",
            "((list|generate) )?(all )?(the )?(primes|prime numbers) (from|between) [012] (to|and|up to) <limit>",
            "(what|which)( numbers)? are( the)? (primes|prime numbers|prime) (up to|until) <limit>",
        ),
        requests=(
            "List all prime numbers up to 50",
            "Primes below 100",
            "Find all primes up to 20",
            "Which are the prime numbers up to 30?",
            "Show me the primes from 1 to 40",
        ),
        says="The prime numbers up to {limit} are {result}.",
    ),
    Recipe(
        name="calculate_factorial",
        aliases=("factorial", "compute_factorial"),
        patterns=("factorial of( the number)? <number>", "<number> factorial", r"<number>\s*!\??"),
        requests=(
            "What is the factorial of 5?",
            "Calculate 10!",
            "Factorial of 0",
            "Compute the factorial of 12",
            "What is 7 factorial?",
        ),
        says="{number}! = {result}",
    ),
    Recipe(
        name="greatest_common_divisor",
        aliases=("gcd", "calculate_gcd", "greatest_common_factor", "compute_gcd", "find_gcd"),
        patterns=(
            rf"(gcd|gcf|hcf|(greatest|highest|largest) common (divisor|factor)( \((gcd|gcf|hcf)\))?) (of|for|between){LIST}? <numbers>",
            r"gcd\s*\(<numbers>\)",
        ),
        requests=(
            "What is the greatest common divisor of 12 and 18?",
            "GCD of 48 and 36",
            "Find the highest common factor of 24, 60 and 36",
            "gcd(100, 75)",
            "Greatest common divisor of the numbers 81 and 27",
        ),
        says="The greatest common divisor is {result}.",
    ),
    Recipe(
        name="least_common_multiple",
        aliases=("lcm", "calculate_lcm", "lowest_common_multiple", "compute_lcm", "find_lcm"),
        patterns=(
            rf"(lcm|(least|lowest|smallest) common multiple( \(lcm\))?) (of|for|between){LIST}? <numbers>",
            r"lcm\s*\(<numbers>\)",
        ),
        requests=(
            "What is the least common multiple of 4 and 6?",
            "LCM of 5 and 7",
            "Find the lowest common multiple of 2, 3 and 4",
            "lcm(12, 18)",
            "Least common multiple of the numbers 10, 15",
        ),
        says="The least common multiple is {result}.",
    ),
    Recipe(
        name="fibonacci_sequence",
        aliases=("fibonacci", "generate_fibonacci", "fibonacci_numbers", "first_fibonacci_numbers"),
        patterns=(
            "((list|generate|write) )?(the )?(first )?<count> (numbers|terms|elements|members) (of|in) the fibonacci (sequence|series)",
            "((list|generate|write) )?(the )?(first )?<count> fibonacci (numbers|terms)",
            "((list|generate) )?(the |a )?fibonacci (sequence|series) (with|of|of length|up to|to) <count> (terms|numbers|elements)",
        ),
        requests=(
            "Give me the first 10 Fibonacci numbers",
            "List the first 5 numbers of the Fibonacci sequence",
            "Generate 15 Fibonacci numbers",
            "Fibonacci sequence with 8 terms",
            "What are the first seven terms of the Fibonacci series?",
        ),
        says="The first {count} Fibonacci numbers are {result}.",
    ),
    Recipe(
        name="number_to_roman",
        aliases=("to_roman", "int_to_roman", "integer_to_roman", "convert_to_roman", "to_roman_numeral"),
        patterns=(
            rf"({CONVERT}|express)( the)?( number| year)? <number> (to|as|in|into)( a| an)? {_ROMAN}",
            rf"(the )?(number |year )?<number> (to|as|in|into)( a| an)? {_ROMAN}",
            "roman (numerals?|numbers?) (for|of)( the number)? <number>",
        ),
        says="{number} is {result} in Roman numerals.",
    ),
    Recipe(
        name="roman_to_number",
        aliases=("roman_to_int", "roman_to_integer", "from_roman", "convert_from_roman", "roman_to_arabic"),
        patterns=(
            rf"({CONVERT}|read|decode|parse)( the)?( roman( numeral| number)?)? <numeral:roman> (to|as|in|into) {_NUMBER}",
            rf"(roman (numeral|number)? ?)?<numeral:roman> (to|as|in|into) {_NUMBER}",
            "((convert|read|decode|parse) )?(the )?roman (numeral|number) <numeral:roman>",
            "(what |which )?(number|value) (is|of|does|has)( the)?( roman( numeral| number)?)? <numeral:roman>"
            "( stand for| mean| represent| have)?",
        ),
        requests=(
            "Convert the Roman numeral XIV to a number",
            "What number is MMXXIV?",
            "Read the Roman numeral XLII",
            "Turn MCMXC into a decimal number",
            "What is the value of the Roman numeral IX?",
        ),
        says="The Roman numeral {numeral} stands for {result}.",
    ),
    Recipe(
        name="convert_base",
        aliases=("base_converter", "convert_number_base", "base_conversion"),
        patterns=(
            f"{_BASED}<number:digits> from <from_base:base>( number)? (to|in|into) <to_base:base>( number)?",
            f"{_BASED}<from_base:base>( number)? <number:digits> {_TO_BASE}",
            (f"{_BASED}<number:whole> (to|in|into|as)( a)? <to_base:other_base>( number)?", {"from_base": 10}),
            (f"{_BASED}<number:hex_digits> {_TO_BASE}", {"from_base": 16}),
            (f"{_BASED}<number:bits> {_TO_BASE}", {"from_base": 2}),
            "<from_base:base> to <to_base:base>( of| for)? <number:digits>",
            "convert( from)? <from_base:base> to <to_base:base> <number:digits>",
        ),
        requests=(
            "Convert binary 1010 to decimal",
            "Convert 255 to hexadecimal",
            "What is 10 in binary?",
            "Convert ff from hex to decimal",
            "Change the number 17 from base 10 to base 3",
        ),
        says="{number} in base {from_base} is {result} in base {to_base}.",
    ),
    Recipe(
        name="round_number",
        aliases=("round_to_decimals", "round_decimal"),
        patterns=(
            "round( the number)? <number> to <decimals> (decimal places?|decimals?|places|digits)( after the (decimal )?point)?",
            "round( the number)? <number>( to| to the nearest| to a)?( integer| whole number)?",
            "<number> rounded to <decimals> (decimal places?|decimals?|places|digits)",
        ),
        requests=(
            "Round 3.14159 to 2 decimal places",
            "Round 7.8 to the nearest integer",
            "What is 2.71828 rounded to 3 decimals?",
            "Round the number 1.005 to two decimal places",
            "Round 99.5",
        ),
        says="{number} rounded is {result}.",
    ),
    Recipe(
        name="sum_digits",
        aliases=("digit_sum", "sum_of_digits"),
        patterns=(
            "(sum|add)( up)?( of)?( all)?( the)? digits (of|in)( the number)? <number>",
            "(digit sum|sum of digits|cross sum) (of|for)( the number)? <number>",
        ),
        requests=(
            "What is the sum of the digits of 12345?",
            "Digit sum of 999",
            "Add up the digits of 2024",
            "Sum the digits in the number 80085",
            "Calculate the digit sum of 7",
        ),
        says="The digits of {number} add up to {result}.",
    ),
    Recipe(
        name="is_perfect_square",
        aliases=("check_perfect_square", "perfect_square"),
        patterns=(
            "is( the number)? <number> a (perfect |square )(square|number)",
            f"{WHETHER}( the number)? <number> is a (perfect |square )(square|number)",
        ),
        requests=(
            "Is 144 a perfect square?",
            "Check whether 50 is a perfect square",
            "Is 49 a square number?",
            "Tell me if 1024 is a perfect square",
            "Is the number 2 a perfect square?",
        ),
        says=("Yes, {number} is a perfect square.", "No, {number} is not a perfect square."),
    ),
    Recipe(
        name="square_root",
        aliases=("calculate_square_root", "sqrt", "compute_square_root"),
        patterns=("square root (of|from)( the number)? <number>", "sqrt( of)? <number>", r"sqrt\s*\(<number>\)", r"√\s*<number>"),
        requests=(
            "What is the square root of 144?",
            "Square root of 2",
            "Calculate sqrt(81)",
            "Find the square root of 0.25",
            "Compute the square root of 1,000,000",
        ),
        says="The square root of {number} is {result}.",
    ),
)
