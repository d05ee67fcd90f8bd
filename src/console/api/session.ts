import { createClient, type Interceptor } from "@connectrpc/connect";
import { createConnectTransport } from "@connectrpc/connect-web";
import { Account } from "../../../gen/client/tss/v1/account_pb.ts";
import { Admin } from "../../../gen/client/tss/v1/admin_pb.ts";
import { Billing } from "../../../gen/client/tss/v1/billing_pb.ts";
import { Onboarding } from "../../../gen/client/tss/v1/onboarding_pb.ts";
import { Operations } from "../../../gen/client/tss/v1/operations_pb.ts";
import { Signing } from "../../../gen/client/tss/v1/signing_pb.ts";
import { roleOfKey } from "./role-of-key.ts";

/**
 * A signed-in key. The key exists only in the closure of the interceptor: it is in no storage, no URL and no element of
 * the page, and it goes with the session.
 */
export interface Session {
  readonly role: "operator" | "project";
  /** localnet, testnet or mainnet. */
  readonly network: string;
  /** The name of the project, for people; empty for an operator. */
  readonly projectName: string;
  readonly account: ReturnType<typeof createClient<typeof Account>>;
  readonly operations: ReturnType<typeof createClient<typeof Operations>>;
  readonly admin: ReturnType<typeof createClient<typeof Admin>>;
  readonly billing: ReturnType<typeof createClient<typeof Billing>>;
  readonly onboarding: ReturnType<typeof createClient<typeof Onboarding>>;
  readonly signing: ReturnType<typeof createClient<typeof Signing>>;
}

/** Opens a session after the service has accepted the key. Rejects with the service's refusal. */
export async function openKeySession(key: string, signal: AbortSignal): Promise<Session> {
  const authorise: Interceptor = (next) => (request) => {
    request.header.set("authorization", `Bearer ${key}`);
    return next(request);
  };
  const transport = createConnectTransport({
    baseUrl: location.origin,
    useBinaryFormat: true,
    defaultTimeoutMs: CALL_TIMEOUT_MS,
    interceptors: [authorise],
  });
  const clients = {
    account: createClient(Account, transport),
    operations: createClient(Operations, transport),
    admin: createClient(Admin, transport),
    billing: createClient(Billing, transport),
    onboarding: createClient(Onboarding, transport),
    signing: createClient(Signing, transport),
  };
  if (roleOfKey(key) === "project") {
    const { projectName, network } = await clients.account.getAccount({}, { signal });
    return { role: "project", projectName, network, ...clients };
  }
  // The cheapest call that every admin key may make.
  await clients.admin.listAdminKeys({ pageSize: 1 }, { signal });
  const { network } = await clients.onboarding.getNetwork({}, { signal });
  return { role: "operator", projectName: "", network, ...clients };
}

/** Streams pass their own bound. */
const CALL_TIMEOUT_MS = 30_000;
