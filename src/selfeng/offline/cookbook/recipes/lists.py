"""Recipes over lists."""

from selfeng.offline.cookbook.phrases import LIST
from selfeng.offline.cookbook.recipe import Recipe

_DOWN = (
    r",?( and)?( (in )?(descending|decreasing|reverse|reversed)( alphabetical)?( order)?|( from)? (large|largest|high|highest|big|biggest)"
    r"( to (small|smallest|low|lowest))?( first)?)"
)
_UP = (
    r"(,?( (in )?(ascending|increasing|alphabetical|numerical)( order)?| alphabetically| numerically| ascendingly|"
    r" from (small|smallest|low|lowest)( to (large|largest|high|highest|big|biggest))?))"
)
_SORT = "(sort|order|arrange)"
_SPLIT = "(split|chunk|divide|break|cut|partition|group)"
_CHUNKS = "(chunks|groups|pieces|batches|sub-?lists|parts|lists)"
_PLACES = "( (places?|steps?|positions?))?"
_OF = "( (number|value|item|element|one))? (of|in|from|among)"

LISTS: tuple[Recipe, ...] = (
    Recipe(
        name="sort_list",
        aliases=("sort_numbers", "sort_items", "sort_words", "sort_values"),
        patterns=(
            (f"{_SORT}{LIST}? <items>{_DOWN}", {"descending": True}),
            (f"{_SORT}{LIST}?{_DOWN} <items>", {"descending": True}),
            (f"put{LIST}? <items>{_DOWN}", {"descending": True}),
            f"{_SORT}{LIST}? <items>{_UP}",
            f"{_SORT}{LIST}?{_UP} <items>",
            f"put{LIST}? <items>{_UP}",
            f"{_SORT}{LIST}? <items>",
        ),
        says="Sorted: {result}",
    ),
    Recipe(
        name="remove_duplicates",
        aliases=("unique_items", "deduplicate_list", "remove_duplicate_items", "unique_values", "dedupe_list"),
        patterns=(
            f"(remove|drop|delete|eliminate)( all)?( the)? (duplicates|(duplicate|repeated) (items|values|elements|entries|numbers|words)) "
            f"(from|in|of){LIST}? <items>",
            f"(de-?duplicate|dedupe){LIST}? <items>",
            f"(unique|distinct) (items|values|elements|entries|numbers|words) (of|in|from){LIST}? <items>",
        ),
        requests=(
            "Remove duplicates from [1, 2, 2, 3]",
            "Deduplicate the list ['a', 'b', 'a']",
            "What are the unique values of 5, 5, 7?",
            "Delete the duplicate items in the list [3, 3, 1]",
            "Distinct words in apple, pear, apple",
        ),
        says="Without duplicates: {result}",
    ),
    Recipe(
        name="chunk_list",
        aliases=("split_list", "split_into_chunks", "batch_list"),
        patterns=(
            f"{_SPLIT}{LIST}? <items> (in|into) {_CHUNKS} of( size)? <size>( items| elements| each)?",
            f"{_SPLIT}{LIST}? <items> (in|into) {_CHUNKS} with <size> (items|elements)( each)?",
        ),
        requests=(
            "Split [1, 2, 3, 4, 5] into chunks of 2",
            "Divide the list ['a', 'b', 'c', 'd'] into groups of 3",
            "Chunk the list [1, 2, 3, 4] into pieces of size 2",
            "Break 1, 2, 3, 4, 5, 6 into batches of 4",
            "Group the items a, b, c into lists of two",
        ),
        says="In chunks of {size}: {result}",
    ),
    Recipe(
        name="flatten_list",
        aliases=("flatten_nested_list", "flatten"),
        patterns=("flatten( the| this)?( following)?( nested)?( list| array)?( of lists)? <items:bracketed>",),
        requests=(
            "Flatten [[1, 2], [3, [4]]]",
            "Flatten the list [1, [2, [3]]]",
            "Flatten this nested list: [['a'], ['b', 'c']]",
            "Flatten the list of lists [[1], [2], [3]]",
            "Please flatten [[], [5]]",
        ),
        says="Flattened: {result}",
    ),
    Recipe(
        name="intersect_lists",
        aliases=("list_intersection", "common_elements", "find_common_elements", "intersection"),
        patterns=(
            "(intersection|common (items|elements|values|numbers|words)|(items|elements|values) in common) (of|between|in)( the lists)? "
            "<first:bracketed> and <second:bracketed>",
            "(which |what )?(items|elements|numbers|values|words)( are)? (common to|in both|shared by) "
            "<first:bracketed> and <second:bracketed>",
            "intersect( the lists)? <first:bracketed> (and|with) <second:bracketed>",
            "what do <first:bracketed> and <second:bracketed> have in common",
        ),
        requests=(
            "What is the intersection of [1, 2, 3] and [2, 3, 4]?",
            "Find the common elements of ['a', 'b'] and ['b', 'c']",
            "Intersect [5, 6] with [6, 7]",
            "Which items are in both [1, 2] and [2]?",
            "What do [1, 3, 5] and [3, 5, 7] have in common?",
        ),
        says="Both lists have in common: {result}",
    ),
    Recipe(
        name="find_maximum",
        aliases=("find_max", "maximum", "max_value", "largest_number", "get_maximum", "find_largest"),
        patterns=(
            f"(maximum|max|largest|biggest|greatest|highest){_OF}{LIST}? <numbers>",
            f"which( number| one)?( of| in| among){LIST}? <numbers> is( the)? (maximum|largest|biggest|greatest|highest)",
        ),
        requests=(
            "What is the maximum of 3, 9 and 2?",
            "Largest number in [4, 8, 1]",
            "Find the biggest of 10, 20, 15",
            "Which of 7, 3 and 12 is the greatest?",
            "Max of the list [1.5, 1.25]",
        ),
        says="The greatest is {result}.",
    ),
    Recipe(
        name="find_minimum",
        aliases=("find_min", "minimum", "min_value", "smallest_number", "get_minimum", "find_smallest"),
        patterns=(
            f"(minimum|min|smallest|least|lowest){_OF}{LIST}? <numbers>",
            f"which( number| one)?( of| in| among){LIST}? <numbers> is( the)? (minimum|smallest|least|lowest)",
        ),
        requests=(
            "What is the minimum of 3, 9 and 2?",
            "Smallest number in [4, 8, 1]",
            "Find the lowest of 10, 20, 15",
            "Which of 7, 3 and 12 is the smallest?",
            "Min of the list [1.5, 1.25]",
        ),
        says="The smallest is {result}.",
    ),
    Recipe(
        name="second_largest",
        aliases=("find_second_largest", "second_highest", "second_largest_number"),
        patterns=(f"second[- ](largest|biggest|greatest|highest){_OF}{LIST}? <numbers>",),
        requests=(
            "What is the second largest number in [4, 9, 7]?",
            "Second highest of 10, 30 and 20",
            "Find the second biggest value in the list [1, 5, 5, 3]",
            "Second greatest number among 2, 4, 8",
            "Get the second-largest element of [100, 50, 75]",
        ),
        says="The second largest is {result}.",
    ),
    Recipe(
        name="rotate_list",
        aliases=("rotate_array", "shift_list", "list_rotation"),
        patterns=(
            f"(rotate|shift){LIST}? <items:bracketed>( to the)? left by <steps:negated>{_PLACES}",
            f"(rotate|shift){LIST}? <items:bracketed> by <steps:negated>{_PLACES}( to the)? left",
            f"(rotate|shift){LIST}? <items:bracketed>(( to the)? right)? by <steps>{_PLACES}(( to the)? right)?",
        ),
        requests=(
            "Rotate the list [1, 2, 3, 4] by 1",
            "Rotate [1, 2, 3, 4, 5] left by 2",
            "Shift the list ['a', 'b', 'c'] to the right by 1 place",
            "Rotate [10, 20, 30] by 2 positions",
            "Rotate the array [1, 2, 3] by 1 to the left",
        ),
        says="Rotated: {result}",
    ),
    Recipe(
        name="reverse_list",
        aliases=("reverse_items", "reverse_array", "list_reverse"),
        patterns=(
            f"(reverse|invert|flip){LIST}? <items:bracketed>",
            "(reverse|invert|flip)( the)?( order of( the)?)? (list|array|items|numbers|elements)( of)? <items>",
            "(reverse|reversal) of( the)? (list|array) <items:bracketed>",
        ),
        requests=(
            "Reverse the list [1, 2, 3]",
            "Reverse [5, 'a', 7]",
            "Flip the list ['x', 'y', 'z']",
            "Reverse the order of the items 1, 2, 3",
            "Invert the array [[1, 2], [3]]",
        ),
        says="Reversed: {result}",
    ),
)
