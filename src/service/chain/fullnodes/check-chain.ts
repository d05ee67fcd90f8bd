import sql from "sql-template-tag";
import { canBeChainOf } from "../../../protocol/chain/network-traits.ts";
import { text } from "../../platform/store/columns.ts";
import { type Database, type Queryable, readRows } from "../../platform/store/database.ts";
import type { ChainNetwork } from "./network.ts";
import { withDeadline } from "./with-deadline.ts";

/** Returns the chain identifier that a network's rows in the database belong to; undefined before the first use. */
export async function knownChain({ prisma }: Database, network: string): Promise<string | undefined> {
  const known = await prisma.knownNetwork.findUnique({ where: { name: network }, select: { chainId: true } });
  return known?.chainId;
}

/**
 * Binds the database to the first chain that it is used with. Throws if the fullnode serves another chain, because
 * dWallets, presigns and stored transactions belong to one chain. A reset localnet is another chain. Throws
 * before it writes anything if the fullnode's chain is not the public chain of that name, unless a localnet poses as it.
 * Afterwards a fullnode's reply that names another chain fails its call.
 */
export async function checkChain(
  db: Queryable,
  network: Pick<ChainNetwork, "name" | "client" | "clock" | "times" | "pinChain">,
  { isPosing = false }: { readonly isPosing?: boolean | undefined } = {},
): Promise<void> {
  const { name, client, clock, times, pinChain } = network;
  const { chainIdentifier } = await withDeadline(clock, times.readMs, (signal) =>
    client.core.getChainIdentifier({ signal }),
  );
  if (!isPosing && !canBeChainOf(name, chainIdentifier))
    throw new Error(`the fullnode does not serve ${name}: its chain is ${chainIdentifier}`);
  const [known] = await readRows(
    db,
    sql`INSERT INTO known_network (name, chain_id) VALUES (${name}, ${chainIdentifier})
        ON CONFLICT (name) DO UPDATE SET name = excluded.name RETURNING chain_id AS "chainId"`,
    { chainId: text },
  );
  if (known?.chainId === chainIdentifier) return pinChain(chainIdentifier);
  throw new Error(
    `the database belongs to another ${name}: chain ${known?.chainId}, and the fullnode serves ${chainIdentifier}. ` +
      "Keep or delete a localnet's folder and its database together.",
  );
}
