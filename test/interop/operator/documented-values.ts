import { createSealKey } from "../../../src/service/audit/seal-events.ts";
import { Secret } from "../../../src/service/platform/telemetry/secret.ts";
import { printed } from "../../component/cli/run-cli.ts";
import { pollUntil } from "../../support/poll-until.ts";

const ADMIN_API_KEY = "an-operators-key-for-documented-commands-0123456789";
const [SEAL_SECRET, NEXT_SEAL_SECRET] = ["3a".repeat(32), "4b".repeat(32)] as const;

/** The configuration of the service for {@link makeValues}. */
export const OPERATOR_SECRETS = { ADMIN_API_KEY, AUDIT_SEAL_SECRET_HEX: SEAL_SECRET };

/**
 * Creates the objects that the documented commands name, on a running service. Returns their values by the names that
 * the documents use.
 */
export async function makeValues(url: string, localnetUrl: string): Promise<Record<string, string>> {
  const asOperator = { TSS_URL: url, ADMIN_API_KEY };
  const make = async <T>(...argv: string[]) =>
    JSON.parse(await printed([...argv, "--json"], asOperator)) as T;
  const { projectId, apiKey } = await make<{ projectId: string; apiKey: string }>(
    ...["project", "create", "--name", "test", "--credit-usd", "5"],
  );
  const asProject = { TSS_URL: url, TSS_API_KEY: apiKey };
  const makeKey = async (name: string) => {
    const made = await make<{ apiKey: { apiKeyId: string } }>(
      ...["key", "create", "--project", projectId, "--name", name],
    );
    return made.apiKey.apiKeyId;
  };
  const { adminKey } = await make<{ adminKey: { adminKeyId: string } }>(
    ...["admin-key", "create", "--name", "old"],
  );
  const { identityProvider } = await make<{ identityProvider: { identityProviderId: string } }>(
    ...["identity-provider", "add", "--project", projectId, "--issuer", "https://old.example"],
    ...["--audiences", "app", "--keys", "https://old.example/keys"],
  );
  const sessionOf = ["--user", "alice", "--scopes", "read", "--json"];
  const { session } = JSON.parse(await printed(["session", "create", ...sessionOf], asProject)) as {
    session: { sessionId: string };
  };
  const deposits = await printed(["deposit", "address", "--json"], asProject);
  const { address } = JSON.parse(deposits) as { address: string };
  return {
    ...asProject,
    SERVICE_URL: url,
    PROJECT_ID: projectId,
    KEY_ID: await makeKey("one"),
    OLD_KEY_ID: await makeKey("old"),
    REVOKED_KEY_ID: "none",
    OLD_ADMIN_KEY_ID: adminKey.adminKeyId,
    IDENTITY_PROVIDER_ID: identityProvider.identityProviderId,
    SESSION_ID: session.sessionId,
    DEPOSIT_ADDRESS: address,
    DEPOSIT_TX_DIGEST: await pay(localnetUrl, address),
    AUDIT_EVENT_ID: await oldestEvent(asOperator),
    SEAL_HASH: await pollUntil(() => newestSeal(url), { intervalMs: 200 }),
    SEAL_PUBLIC_KEY: publicKeyOf(SEAL_SECRET),
    NEW_SEAL_PUBLIC_KEY: publicKeyOf(NEXT_SEAL_SECRET),
  };
}

/** Has the localnet's faucet pay an address. Returns the transaction's digest. */
async function pay(localnetUrl: string, recipient: string): Promise<string> {
  const body = JSON.stringify({ FixedAmountRequest: { recipient } });
  const reply = await fetch(`${localnetUrl}/v2/gas`, { method: "POST", body });
  const { coins_sent: coins } = (await reply.json()) as { coins_sent: { transferTxDigest: string }[] };
  return coins[0]!.transferTxDigest;
}

/** The first event of the trail, which is therefore in the first seal. */
async function oldestEvent(environment: Record<string, string>): Promise<string> {
  const rows = await printed(["audit", "list", "--all", "--json"], environment);
  return (JSON.parse(rows.split("\n").at(-1)!) as { auditEventId: string }).auditEventId;
}

/** The newest seal's hash in hex; undefined while nothing is sealed. */
async function newestSeal(url: string): Promise<string | undefined> {
  const reply = await fetch(`${url}/v1/admin/audit-seals?pageSize=1`, {
    headers: { authorization: `Bearer ${ADMIN_API_KEY}` },
  });
  const { auditSeals } = (await reply.json()) as { auditSeals: { sealHash: string }[] };
  return auditSeals[0] && Buffer.from(auditSeals[0].sealHash, "base64").toString("hex");
}

function publicKeyOf(secretHex: string): string {
  return Buffer.from(createSealKey(new Secret(secretHex)).publicKey).toString("hex");
}
