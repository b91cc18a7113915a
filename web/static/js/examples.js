// Example requests.

export const EXAMPLES = [
  "What is 15 percent of 300?",
  "Reverse the string 'hello world'",
  "How many days are between 2024-01-01 and 2024-12-25?",
  "Convert 72 degrees Fahrenheit to Celsius",
  "Sum the column price of this CSV:\nitem,price\ntea,3.50\ncake,4.25\njam,2.75",
];
