// Example requests, one for each kind of work, and the sample file of one of them.

import { t } from "./texts.js";

const SALES = `month,revenue,costs
2025-01,12400,9800
2025-02,11800,9500
2025-03,13900,10100
2025-04,15200,10400
2025-05,14700,10300
2025-06,16800,10900
2025-07,17500,11200
2025-08,16100,11000
2025-09,18300,11600
2025-10,19700,12100
2025-11,21400,12900
2025-12,24600,13800
`;

// `request` is in the words that the offline model's cookbook knows; the catalogue has it in each
// language, for other models.
export const EXAMPLES = [
  { id: "library", icon: "book", request: "What is 15 percent of 300?" },
  { id: "build", icon: "hammer", request: "Turn 'Meet me at noon' into Morse code" },
  {
    id: "file",
    icon: "file",
    request: "Plot revenue over month from sales.csv",
    file: { name: "sales.csv", text: SALES },
  },
  {
    id: "plan",
    icon: "checks",
    request: "Reverse 'good morning' and then count the vowels of that",
  },
  {
    id: "script",
    icon: "code",
    request: "Write a script squares.py that prints the first 10 squares and run it",
  },
  {
    id: "project",
    icon: "folder",
    request: "Build a command line tool that counts the words of a text file",
  },
];

export const requestOf = ({ id, request }, offline) =>
  offline ? request : t(`example-${id}-request`);

// The sample file as one that a person has picked.
export function filesOf({ id, file }) {
  if (!file) return [];
  const content = new Blob([file.text], { type: "text/csv" });
  return [{ key: `sample-${id}`, name: file.name, size: content.size, content }];
}
