import { randomUUID } from "node:crypto";
import { type DescMessage, type MessageShape, toJson } from "@bufbuild/protobuf";
import type { CallOptions } from "@connectrpc/connect";
import type { Command, CommandContext } from "../command-line/command.ts";
import { flag, nonEmptyText, type Options, optional, uuid, type Values } from "../command-line/option.ts";
import { isOutcomeUnknown } from "../failure.ts";
import type { CallerKind, Target } from "./connection.ts";
import { type Clients, withClients } from "./with-clients.ts";

/** Creates a command from a call, with the common options for its destination, its idempotency key and its output. */
export function serviceCommand<O extends Options, D extends DescMessage>(
  definition: ServiceCommand<O, D>,
): Command {
  const { summary, call, reply, show } = definition;
  return {
    summary,
    details: explainKeys(definition),
    options: { ...definition.options, ...callOptions(definition) },
    async run(given, context) {
      const values = given as Values<O> & CallOptionValues;
      const answer = await withClients(context, targetOf(definition, values), (clients) =>
        definition.isKeyed
          ? once(context, values, (options) => call(clients, values, options))
          : call(clients, values, {}),
      );
      context.print(values.json ? formatMessage(reply, answer) : show(answer));
    },
  };
}

/** The caller of a command, and how the command can call. */
export interface CallShape {
  readonly caller: CallerKind;
  /** True if it also works directly on the database. */
  readonly isDirect: boolean;
  /** True if the contract marks the call as KEYED, so that a repeat with the same key runs once. Default false. */
  readonly isKeyed?: boolean;
}

/** The values of the options from {@link callOptions}. */
export interface CallOptionValues {
  readonly url: string | undefined;
  readonly network: string | undefined;
  readonly json: boolean;
  readonly direct?: boolean;
  readonly project?: string | undefined;
  readonly idempotencyKey?: string | undefined;
}

/** One call of the contract as a command. */
export interface ServiceCommand<O extends Options, D extends DescMessage> extends CallShape {
  readonly summary: string;
  /** In addition to the common options. */
  readonly options: O;
  /** `once` carries the idempotency key of a KEYED call. */
  readonly call: (clients: Clients, values: Values<O>, once: CallOptions) => Promise<MessageShape<D>>;
  /** The type of the reply, which `--json` prints. */
  readonly reply: D;
  /** Formats the reply for people. */
  readonly show: (reply: MessageShape<D>) => string;
}

const calledOptions = {
  url: optional("<url>", "the running service to call; default TSS_URL", nonEmptyText),
  network: optional("<network>", "the network, if the service serves several", nonEmptyText),
};
const direct = flag("use the database directly; the default without a URL");

/** The options for the destination of an operator's command that also works on the database. */
export const destinationOptions = { ...calledOptions, direct };

export function callOptions({ caller, isDirect, isKeyed = false }: CallShape): Options {
  return {
    ...(isKeyed && {
      idempotencyKey: optional("<key>", "retry a call that got no reply, with its key", nonEmptyText),
    }),
    ...(isDirect &&
      caller === "project" && { project: optional("<id>", "with --direct: the project's id", uuid) }),
    ...calledOptions,
    ...(isDirect && { direct }),
    json: flag("print the reply as JSON"),
  };
}

/** Returns the destination of calls from the command's options. */
export function targetOf(
  { caller, isDirect }: CallShape,
  { url, direct, network, project }: CallOptionValues,
): Target {
  return {
    caller,
    url,
    network,
    direct: isDirect ? (direct ?? false) : undefined,
    // An operator's command may also have an option of this name for its subject.
    projectId: caller === "project" ? project : undefined,
  };
}

/** Returns the help text about keys, which are never options. */
export function explainKeys({ caller, isDirect }: CallShape): string {
  const name = caller === "operator" ? "TSS_ADMIN_KEY or ADMIN_API_KEY" : "TSS_API_KEY";
  const project = `The project is the one of the key${isDirect ? "; with --direct, --project names it" : ""}.`;
  return [
    ...(caller === "project" ? [project] : []),
    `The key for a running service comes from ${name}, or from the file named by the`,
    "same variable with _FILE; on the embedded database also from dev.json in DATA_DIR.",
    "No option takes a key, because every user of the machine can read command lines.",
  ].join("\n");
}

/** Makes a call with an idempotency key, and prints the key if no answer came, because the call may have run. */
async function once<T>(
  context: CommandContext,
  { idempotencyKey: key = randomUUID() }: Pick<CallOptionValues, "idempotencyKey">,
  call: (options: CallOptions) => Promise<T>,
): Promise<T> {
  try {
    return await call(underKey(key));
  } catch (error) {
    if (isOutcomeUnknown(error)) context.note(`no reply; ${howToRepeat(key)}`);
    throw error;
  }
}

/** Makes a call with this idempotency key. */
export function underKey(key: string): CallOptions {
  return { headers: { "idempotency-key": key } };
}

/** Returns the advice for a call with an unknown outcome. */
export function howToRepeat(key: string): string {
  return `retry with --idempotency-key ${key}, so that it runs only once`;
}

/** Returns a message as one line of the contract's JSON, including default values. */
export function formatMessage<D extends DescMessage>(schema: D, message: MessageShape<D>): string {
  return JSON.stringify(toJson(schema, message, { alwaysEmitImplicit: true }));
}
