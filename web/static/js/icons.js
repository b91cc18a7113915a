// The icons: those of lucide that the page uses, under names of their own, drawn in the colour of the text around them.

import { h } from "preact";
import Activity from "lucide/dist/esm/icons/activity.mjs";
import ArrowDown from "lucide/dist/esm/icons/arrow-down.mjs";
import ArrowLeft from "lucide/dist/esm/icons/arrow-left.mjs";
import ArrowLeftRight from "lucide/dist/esm/icons/arrow-left-right.mjs";
import ArrowUp from "lucide/dist/esm/icons/arrow-up.mjs";
import ArrowUpDown from "lucide/dist/esm/icons/arrow-up-down.mjs";
import Ban from "lucide/dist/esm/icons/ban.mjs";
import Bell from "lucide/dist/esm/icons/bell.mjs";
import BookOpen from "lucide/dist/esm/icons/book-open.mjs";
import Box from "lucide/dist/esm/icons/box.mjs";
import ChartLine from "lucide/dist/esm/icons/chart-line.mjs";
import Check from "lucide/dist/esm/icons/check.mjs";
import ChevronDown from "lucide/dist/esm/icons/chevron-down.mjs";
import ChevronLeft from "lucide/dist/esm/icons/chevron-left.mjs";
import ChevronRight from "lucide/dist/esm/icons/chevron-right.mjs";
import Clock from "lucide/dist/esm/icons/clock.mjs";
import Code from "lucide/dist/esm/icons/code.mjs";
import Copy from "lucide/dist/esm/icons/copy.mjs";
import Cpu from "lucide/dist/esm/icons/cpu.mjs";
import Download from "lucide/dist/esm/icons/download.mjs";
import Ellipsis from "lucide/dist/esm/icons/ellipsis.mjs";
import FileText from "lucide/dist/esm/icons/file-text.mjs";
import FoldVertical from "lucide/dist/esm/icons/fold-vertical.mjs";
import FlaskConical from "lucide/dist/esm/icons/flask-conical.mjs";
import Folder from "lucide/dist/esm/icons/folder.mjs";
import Hammer from "lucide/dist/esm/icons/hammer.mjs";
import Link from "lucide/dist/esm/icons/link.mjs";
import Lightbulb from "lucide/dist/esm/icons/lightbulb.mjs";
import ListChecks from "lucide/dist/esm/icons/list-checks.mjs";
import Maximize2 from "lucide/dist/esm/icons/maximize-2.mjs";
import Menu from "lucide/dist/esm/icons/menu.mjs";
import MessageSquare from "lucide/dist/esm/icons/message-square.mjs";
import Minimize2 from "lucide/dist/esm/icons/minimize-2.mjs";
import Moon from "lucide/dist/esm/icons/moon.mjs";
import PanelRightClose from "lucide/dist/esm/icons/panel-right-close.mjs";
import PanelRightOpen from "lucide/dist/esm/icons/panel-right-open.mjs";
import Paperclip from "lucide/dist/esm/icons/paperclip.mjs";
import Pause from "lucide/dist/esm/icons/pause.mjs";
import Pencil from "lucide/dist/esm/icons/pencil.mjs";
import Pin from "lucide/dist/esm/icons/pin.mjs";
import Play from "lucide/dist/esm/icons/play.mjs";
import Plus from "lucide/dist/esm/icons/plus.mjs";
import RotateCcw from "lucide/dist/esm/icons/rotate-ccw.mjs";
import Search from "lucide/dist/esm/icons/search.mjs";
import Settings from "lucide/dist/esm/icons/settings.mjs";
import Share from "lucide/dist/esm/icons/share.mjs";
import ShieldCheck from "lucide/dist/esm/icons/shield-check.mjs";
import Square from "lucide/dist/esm/icons/square.mjs";
import Sun from "lucide/dist/esm/icons/sun.mjs";
import Table from "lucide/dist/esm/icons/table.mjs";
import TextAlignStart from "lucide/dist/esm/icons/text-align-start.mjs";
import TextWrap from "lucide/dist/esm/icons/text-wrap.mjs";
import Trash from "lucide/dist/esm/icons/trash.mjs";
import ThumbsDown from "lucide/dist/esm/icons/thumbs-down.mjs";
import TriangleAlert from "lucide/dist/esm/icons/triangle-alert.mjs";
import UnfoldVertical from "lucide/dist/esm/icons/unfold-vertical.mjs";
import Workflow from "lucide/dist/esm/icons/workflow.mjs";
import Wrench from "lucide/dist/esm/icons/wrench.mjs";
import X from "lucide/dist/esm/icons/x.mjs";
import ZoomIn from "lucide/dist/esm/icons/zoom-in.mjs";
import ZoomOut from "lucide/dist/esm/icons/zoom-out.mjs";
import { html } from "./html.js";
import { STAGES } from "./stages.js";

const ICONS = {
  activity: Activity,
  alert: TriangleAlert,
  arrowDown: ArrowDown,
  arrowLeft: ArrowLeft,
  arrowUp: ArrowUp,
  again: RotateCcw,
  bell: Bell,
  book: BookOpen,
  box: Box,
  chart: ChartLine,
  chat: MessageSquare,
  check: Check,
  checks: ListChecks,
  chevronDown: ChevronDown,
  chevronLeft: ChevronLeft,
  chevronRight: ChevronRight,
  clock: Clock,
  code: Code,
  copy: Copy,
  cross: X,
  declined: Ban,
  download: Download,
  file: FileText,
  flask: FlaskConical,
  fold: FoldVertical,
  folder: Folder,
  graph: Workflow,
  hammer: Hammer,
  lamp: Lightbulb,
  link: Link,
  menu: Menu,
  message: TextAlignStart,
  model: Cpu,
  moon: Moon,
  more: Ellipsis,
  open: Maximize2,
  order: ArrowUpDown,
  panelHide: PanelRightClose,
  panelShow: PanelRightOpen,
  paperclip: Paperclip,
  pause: Pause,
  pencil: Pencil,
  pin: Pin,
  play: Play,
  plus: Plus,
  search: Search,
  settings: Settings,
  share: Share,
  shield: ShieldCheck,
  shrink: Minimize2,
  square: Square,
  sun: Sun,
  swap: ArrowLeftRight,
  table: Table,
  tool: Wrench,
  trash: Trash,
  unfold: UnfoldVertical,
  wrap: TextWrap,
  wrong: ThumbsDown,
  zoomIn: ZoomIn,
  zoomOut: ZoomOut,
};

const OF_STEP = {
  queued: "clock",
  waiting: "box",
  tool_found: "tool",
  no_tool_found: "hammer",
  lessons_shown: "lamp",
  stub: "checks",
  delegation: "chat",
  code_run: "code",
  tool_standing_changed: "book",
  consent: "shield",
  tool_mismatch: "swap",
  project_check: "shield",
  create_file: "plus",
  write_file: "file",
  replace_lines: "code",
  insert_lines: "code",
  remove_lines: "code",
  delete_file: "cross",
  execute_py_file: "play",
  run_tests: "flask",
  read_run: "search",
  add_package: "box",
  finish: "check",
  give_up: "alert",
  restored: "swap",
  turn_failed: "alert",
  turn_stopped: "square",
  turn_resumed: "play",
};

export const ICON_NAMES = Object.keys(ICONS);

export const stepIcon = (kind) => STAGES[kind]?.icon ?? OF_STEP[kind] ?? "activity";

export function Icon({ name }) {
  return html`<svg class="icon" viewBox="0 0 24 24" aria-hidden="true" focusable="false">
    ${(ICONS[name] ?? []).map(([shape, attributes], key) => h(shape, { key, ...attributes }))}
  </svg>`;
}

export function Mark() {
  return html`<svg class="mark" viewBox="0 0 32 32" aria-hidden="true" focusable="false">
    <rect width="32" height="32" rx="9" />
    <path d="M10 12.5 6.5 16l3.5 3.500M22 12.500l3.5 3.5-3.5 3.500M16 10v12M11.5 16h9" />
  </svg>`;
}

// The icon of a state: a spinning ring while something runs.
export function StateIcon({ state }) {
  if (state === "running") return html`<span class="spinner" aria-hidden="true"></span>`;
  const name = {
    done: "check",
    answered: "check",
    asked: "chat",
    declined: "declined",
    failed: "cross",
    stopped: "square",
    passed: "check",
    error: "cross",
    skipped: "chevronRight",
  }[state];
  return name ? html`<${Icon} name=${name} />` : html`<span class="dot" aria-hidden="true"></span>`;
}
