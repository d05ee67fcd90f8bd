import { createClient, type Interceptor } from "@connectrpc/connect";
import { createConnectTransport } from "@connectrpc/connect-web";
import { Admin } from "../../../gen/client/tss/v1/admin_pb.ts";
import { Billing } from "../../../gen/client/tss/v1/billing_pb.ts";
import { Onboarding } from "../../../gen/client/tss/v1/onboarding_pb.ts";
import { Signing } from "../../../gen/client/tss/v1/signing_pb.ts";
import { failureText } from "./failure-text.ts";
import { roleOfKey } from "./role-of-key.ts";

/**
 * A signed-in key. The key exists only in the closure of the interceptor: it is in no storage, no URL and no element of
 * the page, and it goes with the session.
 */
export interface Session {
  readonly role: "operator" | "project";
  /** localnet, testnet or mainnet. */
  readonly network: string;
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
    admin: createClient(Admin, transport),
    billing: createClient(Billing, transport),
    onboarding: createClient(Onboarding, transport),
    signing: createClient(Signing, transport),
  };
  const role = roleOfKey(key);
  await checkKey(clients, role, signal);
  const { network } = await clients.onboarding.getNetwork({}, { signal });
  return { role, network, ...clients };
}

type Clients = Pick<Session, "admin" | "billing">;

/** Makes the cheapest call that the key's role may make. A project's key may lack the scope for it, and is still valid. */
async function checkKey(
  { admin, billing }: Clients,
  role: Session["role"],
  signal: AbortSignal,
): Promise<void> {
  if (role === "operator") {
    await admin.listAdminKeys({ pageSize: 1 }, { signal });
    return;
  }
  try {
    await billing.getBalance({}, { signal });
  } catch (cause) {
    if (failureText(cause).reason !== "SCOPE_MISSING") throw cause;
  }
}

/** Streams pass their own bound. */
const CALL_TIMEOUT_MS = 30_000;
