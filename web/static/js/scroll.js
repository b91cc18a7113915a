// Scrolling that follows new content at the end, but never pulls a reader away from what they read.

import { useLayoutEffect, useRef, useState } from "preact/hooks";

const NEAR = 48;

// For a scrolling element (`scroller`) around growing content (`content`): whether it follows, and
// how to `follow` again or to `stay`.
// A new `topic` is shown from its end if it `grows`, else from its beginning.
export function useFollow(topic, grows) {
  const scroller = useRef(null);
  const content = useRef(null);
  const follows = useRef(true);
  const [away, setAway] = useState(false);

  const follow = () => {
    follows.current = true;
    setAway(false);
    const element = scroller.current;
    if (element) element.scrollTop = element.scrollHeight;
  };

  const stay = () => {
    follows.current = false;
    setAway(true);
  };

  useLayoutEffect(() => {
    const element = scroller.current;
    let last = element.scrollTop;
    const moved = () => {
      const rest = element.scrollHeight - element.clientHeight - element.scrollTop;
      if (rest <= NEAR) follows.current = true;
      else if (element.scrollTop < last) follows.current = false;
      last = element.scrollTop;
      setAway(!follows.current);
    };
    const toEnd = () => {
      if (follows.current) element.scrollTop = element.scrollHeight;
    };
    const changed = new MutationObserver(toEnd); // before the frame, so that it takes no second one
    const grown = new ResizeObserver(toEnd);
    element.addEventListener("scroll", moved, { passive: true });
    changed.observe(content.current, { childList: true, characterData: true, subtree: true });
    grown.observe(content.current);
    grown.observe(element);
    return () => {
      element.removeEventListener("scroll", moved);
      changed.disconnect();
      grown.disconnect();
    };
  }, []);

  useLayoutEffect(() => {
    if (grows) return follow();
    follows.current = false;
    scroller.current.scrollTop = 0;
  }, [topic]);

  return { scroller, content, away, follow, stay };
}
