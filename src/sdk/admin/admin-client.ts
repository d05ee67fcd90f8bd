import type { Transport } from "@connectrpc/connect";
import { Admin } from "../../../gen/proto/tss/v1/admin_pb.ts";
import type { Network } from "../names.ts";
import { createServiceCalls, type ServiceCalls } from "../service-calls.ts";
import { createDefaultTransport, withHeaders } from "../transport.ts";

/** How an operator's client is made. */
export interface AdminClientOptions {
  /** The service's URL, such as `http://127.0.0.1:3000`. */
  readonly baseUrl: string;
  /** ADMIN_API_KEY, or a named admin key, `tss_admin_…`. Keep it out of pages. */
  readonly adminKey: string;
  /** The network whose projects, keys and wallets are meant. */
  readonly network: Network;
  /** Another Connect transport; default Connect over fetch with binary messages. Headers are added to it. */
  readonly transport?: Transport | undefined;
}

/**
 * The operator's calls, one for each RPC of `tss.v1.Admin`. Lists give their items one by one, and read the next page when
 * it is asked for. All throw a TssError.
 */
export type AdminClient = ServiceCalls<typeof Admin>;

/** Makes an operator's client. Nothing is sent before the first call. */
export function createAdminClient({
  baseUrl,
  adminKey,
  network,
  transport = createDefaultTransport(baseUrl),
}: AdminClientOptions): AdminClient {
  const headers = { authorization: `Bearer ${adminKey}`, "x-network": network };
  return createServiceCalls(Admin, withHeaders(transport, headers));
}
