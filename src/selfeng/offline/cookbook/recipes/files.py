"""Recipes over files that come with a request."""

from selfeng.offline.cookbook.recipe import Recipe

_KINDS = "( (attached|uploaded|csv|data|table))*"
_NAMED = "((the|this|my) )?((attached|uploaded|csv|data|table) )*(file )?<path:filename>"
_MEANT = f"(it|(the|this|that|my){_KINDS}( (file|table|csv|data|attachment))?)"
_FROM = f"( (of|in|from|for|with) ({_NAMED}|{_MEANT}))"
_CHART = "(plot|chart|graph|diagram)"
_DRAW = f"((plot|chart|graph|draw|visuali[sz]e)|((make|create|draw|plot) )?(a |the )?(line |scatter )?{_CHART} (of|from|for))"
_AGAINST = "(against|versus|vs\\.?|over|by|as a function of)"

FILES: tuple[Recipe, ...] = (
    Recipe(
        name="plot_csv_columns",
        aliases=("plot_columns_of_csv", "plot_column_against_column"),
        patterns=(f"{_DRAW}( the)?( columns?)? <y:token> {_AGAINST}( the)?( column)? <x:token>{_FROM}?",),
        requests=(
            "Plot column price against day of sales.csv",
            "Plot temperature over time from weather.csv",
            "Draw a chart of y versus x in data.csv",
            "Graph the column revenue against year of the file figures.csv",
            "Make a plot of speed vs distance from 'run 1.csv'",
        ),
        says="Here is {y} against {x}.",
    ),
    Recipe(
        name="chart_csv_file",
        aliases=("chart_csv", "draw_csv_file"),
        patterns=(f"{_DRAW} ({_NAMED}|{_MEANT})",),
        requests=(
            "Chart the file sales.csv",
            "Plot weather.csv",
            "Visualize data.csv",
            "Draw a chart of the CSV file figures.csv",
            "Make a graph from 'run 1.csv'",
        ),
        says="Here is the chart of {path}.",
    ),
    Recipe(
        name="sum_csv_file_column",
        aliases=("csv_file_column_sum", "sum_column_of_csv_file"),
        patterns=(
            f"(sum|total|add)( up)?( of)?( all)?( (the )?values (in|of))?( the)? (column <column:token>|<column:token> column){_FROM}",
        ),
        requests=(
            "Sum the column price of sales.csv",
            "What is the total of the column amount in the file book.csv?",
            "Add up the n column in 'run 1.csv'",
            "Sum of the score column in results.csv",
            "Total the values in the column qty of stock.csv",
        ),
        says="The column {column} of {path} adds up to {result}.",
    ),
)
