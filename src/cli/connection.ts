import { type Client, createClient, type Transport } from "@connectrpc/connect";
import { Admin } from "../../gen/proto/tss/v1/admin_pb.ts";
import { Billing } from "../../gen/proto/tss/v1/billing_pb.ts";
import { loadClientConfig } from "../config/config.ts";
import { type CommandContext, UsageError } from "./command.ts";
import { findQuickStart } from "./find-quick-start.ts";

/** A way to make calls. */
export interface Connection {
  readonly transport: Transport;
  /** What a call really failed with, where this side knows more than the reply says. */
  explain(error: unknown): unknown;
  close(): Promise<void>;
}

/** The generated clients: of a running service, or of the same operations on the database in this process. */
export interface Clients {
  readonly admin: Client<typeof Admin>;
  readonly billing: Client<typeof Billing>;
}

/** Whose calls a command makes. */
export type CallerKind = "operator" | "project";

/** Where a command makes its calls. */
export interface Target {
  readonly caller: CallerKind;
  /** Given on the command line. */
  readonly url: string | undefined;
  /** Undefined: the command needs a running service. */
  readonly direct: boolean | undefined;
  /** On the database, where a project calls: which. */
  readonly projectId?: string | undefined;
  /** On the database: bring it up to date first. Default false. */
  readonly migrates?: boolean;
}

/**
 * Makes calls, and closes the connection after them. They go to the service at `--url` or TSS_URL; where neither is
 * given, and with `--direct`, to the database that the configuration names. While a service has the embedded database
 * open, they go to that service. What happens to answer decides nothing.
 */
export async function withClients<T>(
  context: CommandContext,
  target: Target,
  work: (clients: Clients) => Promise<T>,
): Promise<T> {
  const connection = await connect(context, target);
  const { transport } = connection;
  try {
    return await work({ admin: createClient(Admin, transport), billing: createClient(Billing, transport) });
  } catch (error) {
    throw connection.explain(error);
  } finally {
    await connection.close();
  }
}

async function connect(context: CommandContext, target: Target): Promise<Connection> {
  const { caller, direct = false, projectId } = target;
  if (direct && target.url !== undefined) throw new UsageError("--direct and --url exclude each other");
  const config = loadClientConfig(context.environment);
  const given = target.url ?? (direct ? undefined : config.url);
  const running = given === undefined && !direct ? await findQuickStart(config) : undefined;
  if (running !== undefined)
    context.note(`calling the service at ${running.baseUrl}, which runs on ${config.dataDirectory}`);
  const url = given ?? running?.baseUrl;
  if (url === undefined) {
    if (target.direct === undefined)
      throw new UsageError(
        "this command needs a running service: set --url or TSS_URL, or start one here with `tss serve`",
      );
    if (caller === "project" && projectId === undefined)
      throw new UsageError("--project is missing: the database needs it, because there is no key");
    return (await import("./direct.ts")).connectDirect(context, target);
  }
  if (projectId !== undefined)
    throw new UsageError("--project is only for the database: a key determines its project");
  return (await import("./remote.ts")).connectRemote(url, caller, config);
}
