"""Recipes over CSV and JSON."""

from selfeng.offline.cookbook.phrases import CONVERT, JSON, TABLE
from selfeng.offline.cookbook.recipe import Recipe

_COLUMN = "( the)? (column <column:token>|<column:token> column)"
_FIGURES = "((the|its|count|sum|mean|average|minimum|maximum|min|max|and|,|basic|summary|all) ?|, )*"
_FIGURE = "(count|sum|mean|average|minimum|maximum|min|max)"
_DOWN = ",?( in)? (descending|decreasing|reverse)( order)?"
_PRETTY = "(pretty[- ]?print|format|beautify|indent|prettify)"
_INDENT = "(with|by|using)( an indent(ation)? of)? <indent>( spaces)?"
_VALUE = "(value|field|key|path|element|entry|property|item)"

DATA: tuple[Recipe, ...] = (
    Recipe(
        name="csv_to_json",
        aliases=("convert_csv_to_json", "parse_csv_to_json"),
        patterns=(
            f"({CONVERT}|parse){TABLE} (to|into|as) json <csv_text:csv>",
            f"({CONVERT}|parse){TABLE} <csv_text:csv> (to|into|as) json",
            "csv to json <csv_text:csv>",
        ),
        requests=(
            "Convert this CSV to JSON: name,age\nAnn,30\nBob,25",
            "CSV to JSON: a,b\n1,2",
            "Turn the CSV text 'x,y\n1,2' into JSON",
            "Parse this CSV into JSON: city\nOslo\nRome",
            "Change the following CSV data to JSON:\nid,name\n1,pen",
        ),
    ),
    Recipe(
        name="json_to_csv",
        aliases=("convert_json_to_csv",),
        patterns=(
            f"{CONVERT}{JSON} (to|into|as)( a)? csv( table| text)? <json_text:json>",
            f"{CONVERT}{JSON}? <json_text:json> (to|into|as)( a)? csv( table| text)?",
            "json to csv <json_text:json>",
        ),
        requests=(
            'Convert this JSON to CSV: [{"name": "Ann", "age": 30}]',
            'JSON to CSV: [{"a": 1}, {"a": 2}]',
            'Turn [{"x": 1, "y": 2}] into CSV',
            'Write the JSON [{"city": "Oslo"}] as a CSV table',
            'Change the following JSON data into CSV: [{"id": 1, "name": "pen"}]',
        ),
    ),
    Recipe(
        name="sum_csv_column",
        aliases=("csv_column_sum", "sum_column_in_csv"),
        patterns=(
            f"(sum|total|add)( up)?( of)?( all)?( (the )?values (in|of))?{_COLUMN} (of|in|from){TABLE} <csv_text:csv>",
            f"in{TABLE},? (sum|total|add)( up)?{_COLUMN} <csv_text:csv>",
        ),
        requests=(
            "Sum the price column of this CSV: item,price\npen,2\nbook,10",
            "What is the total of the column amount in the CSV: day,amount\nMon,5\nTue,7",
            "Add up the column n in this CSV: n\n1\n2",
            "Sum of the score column in the following CSV: name,score\nAnn,3\nBob,4",
            "Total the values in the column qty of this table: item,qty\na,1\nb,9",
        ),
        says="The column adds up to {result}.",
    ),
    Recipe(
        name="summarize_csv_column",
        aliases=("csv_column_summary", "csv_column_statistics", "describe_csv_column"),
        patterns=(
            f"(summari[sz]e|describe|analy[sz]e){_COLUMN} (of|in|from){TABLE} <csv_text:csv>",
            f"((show|give) )?{_FIGURES}(statistics|stats|summary|figures)( for| of| on){_COLUMN} (of|in|from){TABLE} <csv_text:csv>",
            f"{_FIGURE}(,? (and )?(the )?{_FIGURE})+ of{_COLUMN} (of|in|from){TABLE} <csv_text:csv>",
        ),
    ),
    Recipe(
        name="sort_csv",
        aliases=("sort_csv_by_column", "csv_sort"),
        patterns=(
            (f"(sort|order){TABLE} by( the)?( column)? <column:token>( column)?{_DOWN} <csv_text:csv>", {"descending": True}),
            f"(sort|order){TABLE} by( the)?( column)? <column:token>( column)?(( in)? (ascending|alphabetical)( order)?)? <csv_text:csv>",
        ),
        requests=(
            "Sort this CSV by age: name,age\nAnn,30\nBob,25",
            "Sort the CSV by the column price in descending order: item,price\npen,2\nbook,10",
            "Order this table by name: name,n\nb,1\na,2",
            "Sort the following CSV by column score: name,score\nAnn,3\nBob,1",
            "Sort this CSV by n descending: n\n1\n2",
        ),
    ),
    Recipe(
        name="count_csv_rows",
        aliases=("csv_row_count", "count_rows_in_csv"),
        patterns=(
            f"(how many|number of|count( the)?)( data)? (rows|lines|records|entries)( are)?( there)? (in|of){TABLE} <csv_text:csv>",
            f"how many( data)? (rows|lines|records|entries) does{TABLE} have <csv_text:csv>",
        ),
        requests=(
            "How many rows are in this CSV: name,age\nAnn,30\nBob,25",
            "Count the rows of the CSV: a,b\n1,2\n3,4",
            "Number of records in this table: id\n1\n2\n3",
            "How many data rows does this CSV have: x,y\n5,6",
            "Count rows in the following CSV:\nn\n1",
        ),
        says="The table has {result} rows.",
    ),
    Recipe(
        name="validate_json",
        aliases=("is_valid_json", "check_json", "json_validator"),
        patterns=(
            "is( this| the following| that)?( text| string)?( a)? (valid|well-formed|correct) json <text:block>",
            "is( this| the following| that)?( text| string)? <text:block> (a )?(valid|well-formed|correct) json",
            f"(validate|check){JSON} <text:block>",
            "(check|test|tell)( me)? (if|whether)( this| the following)?( text| string)? <text:block> is (valid|well-formed|correct) json",
            "(check|test|tell)( me)? (if|whether)( this| the following)( text| string)? is (valid|well-formed|correct) json <text:block>",
        ),
        requests=(
            'Is this valid JSON: {"a": 1}',
            "Validate the JSON [1, 2,]",
            "Check whether {'a': 1} is valid JSON",
            'Is {"ok": true} valid JSON?',
            "Validate this JSON: {broken",
        ),
        says=("Yes, this is valid JSON.", "No, this is not valid JSON."),
    ),
    Recipe(
        name="query_json",
        aliases=("get_json_value", "json_path", "extract_json_value", "get_json_path"),
        patterns=(
            f"(extract|read|look up|fetch|select|query)( the)?( {_VALUE}( (of|at|for|under|called))?)? <path:path>( {_VALUE})? "
            f"(from|in|of|out of){JSON}? <json_text:json>",
            f"{_VALUE} ((of|at|for|under|called) )?(the )?<path:path> (from|in|of|out of){JSON}? <json_text:json>",
            f"<path:path>( {_VALUE})? (from|in|of|out of){JSON} <json_text:json>",
        ),
        says="The value is {result}.",
    ),
    Recipe(
        name="format_json",
        aliases=("pretty_print_json", "beautify_json", "prettify_json", "json_pretty_print"),
        patterns=(
            (f"{_PRETTY}{JSON} with sorted keys <json_text:json>", {"sort_keys": True}),
            f"{_PRETTY}{JSON}?( {_INDENT})? <json_text:json>",
            f"{_PRETTY}{JSON}? <json_text:json> {_INDENT}",
            f"make{JSON} (readable|pretty|look nice) <json_text:json>",
        ),
    ),
)
