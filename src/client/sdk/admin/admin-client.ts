import type { Transport } from "@connectrpc/connect";
import { Admin } from "../../../../gen/client/tss/v1/admin_pb.ts";
import { Operations } from "../../../../gen/client/tss/v1/operations_pb.ts";
import { createServiceCaller, createServiceCalls, type ServiceCalls } from "../calls/service-calls.ts";
import { createDefaultTransport, withHeaders } from "../calls/transport.ts";
import type { Network } from "../names.ts";

/**
 * Creates an operator's client. It sends nothing before the first call. A failed call rejects with a {@link TssError}.
 *
 * @example
 * const admin = createAdminClient({ baseUrl, adminKey, network: "testnet" });
 * for await (const project of admin.listProjects({})) console.log(project.name);
 */
export function createAdminClient({
  baseUrl,
  adminKey,
  network,
  transport = createDefaultTransport(baseUrl),
}: AdminClientOptions): AdminClient {
  const headers = { authorization: `Bearer ${adminKey}`, "x-network": network };
  const authorised = withHeaders(transport, headers);
  const caller = createServiceCaller();
  return {
    ...createServiceCalls(Admin, authorised, caller),
    ...createServiceCalls(Operations, authorised, caller),
  };
}

/** Options of {@link createAdminClient}. */
export interface AdminClientOptions {
  /** The service's URL, such as `http://127.0.0.1:3000`. */
  readonly baseUrl: string;
  /** The service's ADMIN_API_KEY, or a named admin key, `tss_admin_…`. Do not ship it in a web page. */
  readonly adminKey: string;
  /** The network whose projects, keys and wallets the calls concern. */
  readonly network: Network;
  /** Another Connect transport. The client adds its headers to it. Default: Connect over fetch with binary messages. */
  readonly transport?: Transport | undefined;
}

/**
 * The operator's calls, one for each RPC of `tss.v1.Admin` and `tss.v1.Operations`. A list yields its items and fetches
 * the next page on demand. A failed call rejects with a TssError.
 */
export type AdminClient = ServiceCalls<typeof Admin> & ServiceCalls<typeof Operations>;
