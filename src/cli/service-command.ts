import { randomUUID } from "node:crypto";
import { type DescMessage, type MessageShape, toJson } from "@bufbuild/protobuf";
import type { CallOptions } from "@connectrpc/connect";
import type { Command, CommandContext } from "./command.ts";
import { type CallerKind, type Clients, type Target, withClients } from "./connection.ts";
import { isOutcomeUnknown } from "./failure.ts";
import { flag, type Options, optional, type Values } from "./option.ts";
import { nonEmptyText, uuid } from "./option-values.ts";

/** Adds to a call what all of them have: where it goes, how it is repeated, and how its reply is printed. */
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

/** Whose calls a command makes, and in which ways. */
export interface CallShape {
  readonly caller: CallerKind;
  /** Whether it also works on the database itself. */
  readonly isDirect: boolean;
  /** Whether the contract has the call KEYED, so that a repeat with the same key is made once. Default false. */
  readonly isKeyed?: boolean;
}

/** What is said to the options that {@link callOptions} adds. */
export interface CallOptionValues {
  readonly url: string | undefined;
  readonly json: boolean;
  readonly direct?: boolean;
  readonly project?: string | undefined;
  readonly idempotencyKey?: string | undefined;
}

/** One call of the contract as a command. */
export interface ServiceCommand<O extends Options, D extends DescMessage> extends CallShape {
  readonly summary: string;
  /** Beside the options that every call has. */
  readonly options: O;
  /** `once` has the idempotency key of a KEYED call. */
  readonly call: (clients: Clients, values: Values<O>, once: CallOptions) => Promise<MessageShape<D>>;
  /** The type of the reply, which `--json` prints. */
  readonly reply: D;
  /** The reply for people. */
  readonly show: (reply: MessageShape<D>) => string;
}

/** The options that every call has of its shape. */
export function callOptions({ caller, isDirect, isKeyed = false }: CallShape): Options {
  return {
    ...(isKeyed && {
      idempotencyKey: optional("<key>", "retry a call that got no reply, with its key", nonEmptyText),
    }),
    ...(isDirect &&
      caller === "project" && { project: optional("<id>", "with --direct: the project's id", uuid) }),
    url: optional("<url>", "the running service to call; default TSS_URL", nonEmptyText),
    ...(isDirect && { direct: flag("use the database directly; the default without a URL") }),
    json: flag("print the reply as JSON"),
  };
}

/** Where calls go, from the command's options. */
export function targetOf(
  { caller, isDirect }: CallShape,
  { url, direct, project }: CallOptionValues,
): Target {
  return {
    ...{ caller, url, direct: isDirect ? (direct ?? false) : undefined },
    // An operator's command may have an option of that name too, for what it acts on.
    projectId: caller === "project" ? project : undefined,
  };
}

/** What help says of the keys, which no option takes. */
export function explainKeys({ caller }: CallShape): string {
  const name = caller === "operator" ? "TSS_ADMIN_KEY or ADMIN_API_KEY" : "TSS_API_KEY";
  return [
    `The key for a running service comes from ${name}, or from the file named by the`,
    "same variable with _FILE. No option takes a key, because every user of the machine can read command lines.",
  ].join("\n");
}

/** Makes a call with an idempotency key, and says it where no answer came: the call may be done all the same. */
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

/** Makes a call once for this idempotency key. */
export function underKey(key: string): CallOptions {
  return { headers: { "idempotency-key": key } };
}

/** Advice for who cannot know whether a call was made. */
export function howToRepeat(key: string): string {
  return `retry with --idempotency-key ${key}, so that it is done only once`;
}

/** A message in one line of the contract's JSON, with fields that have their default. */
export function formatMessage<D extends DescMessage>(schema: D, message: MessageShape<D>): string {
  return JSON.stringify(toJson(schema, message, { alwaysEmitImplicit: true }));
}
