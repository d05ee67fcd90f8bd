import type { Transport } from "@connectrpc/connect";

/** A connection for calls. */
export interface Connection {
  readonly transport: Transport;
  /** Returns the cause of a failure if this process knows more than the reply says. */
  explain(error: unknown): unknown;
  close(): Promise<void>;
}

/** The kind of caller. */
export type CallerKind = "operator" | "project";

/** The destination of a command's calls. */
export interface Target {
  readonly caller: CallerKind;
  /** The URL from the command line. */
  readonly url: string | undefined;
  /** The network to name. If undefined, a service with several networks refuses most of an operator's calls. */
  readonly network?: string | undefined;
  /** Undefined if the command needs a running service. */
  readonly direct: boolean | undefined;
  /** The project to act as, for direct calls. */
  readonly projectId?: string | undefined;
  /** True to migrate the database before direct calls. Default false. */
  readonly migrates?: boolean;
}
