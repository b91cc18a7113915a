// The tool library: a list to search, and behind each row the tool itself.

import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { recall, remember } from "../../choices.js";
import { html, memo } from "../../view.js";
import { ToolDetail } from "./tool.js";
import { ToolList } from "./tool-list.js";

const ORDER = "tools-order";

export const Library = memo(
  ({ tools, search, kind, found, openTool, detail, versions, sources, problem }) => {
    const [order, setOrder] = useState(() => recall(ORDER, "name"));
    const left = useRef(null); // the tool that was open before
    useLayoutEffect(() => {
      if (openTool) left.current = openTool;
    }, [openTool]);
    if (openTool) {
      const line = tools?.find((tool) => tool.name === openTool);
      return html`<${ToolDetail}
        key=${openTool}
        name=${openTool}
        ...${{ line, detail, versions, sources }}
        problem=${problem?.name === openTool ? problem : null}
      />`;
    }
    const choose = (chosen) => {
      remember(ORDER, chosen);
      setOrder(chosen);
    };
    return html`<${ToolList} ...${{ tools, search, kind, found, order, choose, left }} />`;
  },
);
