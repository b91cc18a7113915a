// Scrolling that follows new content at the end, but never pulls a reader away from what they read.

import { useEffect, useRef, useState } from "preact/hooks";

const NEAR = 48;

// For a scrolling element (`scroller`) around growing content (`content`): whether it follows, and how to follow again.
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

  useEffect(() => {
    const element = scroller.current;
    let last = element.scrollTop;
    const moved = () => {
      const rest = element.scrollHeight - element.clientHeight - element.scrollTop;
      if (rest <= NEAR) follows.current = true;
      else if (element.scrollTop < last) follows.current = false;
      last = element.scrollTop;
      setAway(!follows.current);
    };
    const grown = new ResizeObserver(() => {
      if (follows.current) element.scrollTop = element.scrollHeight;
    });
    element.addEventListener("scroll", moved, { passive: true });
    grown.observe(content.current);
    grown.observe(element);
    return () => {
      element.removeEventListener("scroll", moved);
      grown.disconnect();
    };
  }, []);

  useEffect(() => {
    if (grows) return follow();
    follows.current = false;
    scroller.current.scrollTop = 0;
  }, [topic]);

  return { scroller, content, away, follow };
}
