import type { DestinationStream } from "pino";

/**
 * Creates a destination for logs that a person reads in a terminal. Until `ready`, it shows progress in one line, which
 * each message replaces. Warnings and errors stay, and after `ready` every message does, as its time, its text and its
 * fields. An error shows its own message and those of its causes, and no stack: the JSON of a log that is no terminal
 * has it.
 */
export function createTerminalLog(terminal: Terminal): TerminalLog {
  let isReady = false;
  const show = (line: string) => terminal.write(`${CLEAR_LINE}${line}\n`);
  return {
    write(text) {
      const record = parse(text);
      if (record === undefined) {
        show(printable(text.trimEnd()));
        return;
      }
      const { level, time, msg = "", ...fields } = record;
      const words = [String(msg), ...Object.entries(fields).map(describe)].join("  ");
      const isFault = level === "warn" || level === "error" || level === "fatal";
      if (isReady || isFault) {
        const clock = isReady ? `${String(time).slice(TIME_AT, TIME_AT + TIME_LENGTH)}  ` : "";
        show(printable(`${clock}${isFault ? `${level}: ` : ""}${words}`));
        return;
      }
      const width = Math.max(1, (terminal.columns ?? DEFAULT_COLUMNS) - 1);
      terminal.write(
        `${CLEAR_LINE}${[...printable(`starting: ${progressOf(record)}`)].slice(0, width).join("")}`,
      );
    },
    ready() {
      isReady = true;
      terminal.write(CLEAR_LINE);
    },
  };
}

/** The terminal that shows the log. */
export interface Terminal {
  write(text: string): unknown;
  readonly columns?: number | undefined;
}

/** A log in a terminal. */
export interface TerminalLog extends DestinationStream {
  /** Ends the progress of the start. */
  ready(): void;
}

type LogRecord = Readonly<Record<string, unknown>>;

const CLEAR_LINE = "\r\u001b[2K";
const DEFAULT_COLUMNS = 80;
/** The place of `12:34:56` in an ISO time. */
const TIME_AT = 11;
const TIME_LENGTH = 8;

function parse(line: string): LogRecord | undefined {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === "object" && value !== null ? (value as LogRecord) : undefined;
  } catch {
    return undefined;
  }
}

/** Returns the message with what it is about: the part that started, the migration that was applied. */
function progressOf({ msg, part, migration, name }: LogRecord): string {
  const what = [part, migration, name].find((value) => typeof value === "string");
  return [what, msg].filter((word) => typeof word === "string").join(" ");
}

function describe([name, value]: [string, unknown]): string {
  if (name === "cause" || name === "err" || name === "error") return `${name}: ${messagesOf(value)}`;
  return `${name}=${typeof value === "string" ? value : JSON.stringify(value)}`;
}

function messagesOf(error: unknown): string {
  const { message, cause } = (error ?? {}) as { message?: unknown; cause?: unknown };
  if (typeof message !== "string") return JSON.stringify(error);
  // pino's serializer joins the messages of the causes already.
  return cause === undefined || typeof cause !== "object" ? message : `${message}: ${messagesOf(cause)}`;
}

/** Replaces control characters of the terminal, because values come from callers. */
function printable(text: string): string {
  return text.replace(/\p{C}/gu, "\u{fffd}");
}
