import sql from "sql-template-tag";
import { text } from "../store/columns.ts";
import type { Queryable } from "../store/database.ts";
import { readRows } from "../store/statements.ts";
import type { ChainNetwork } from "./network.ts";

/**
 * Ties the database to the chain that it was first used with. Throws when the fullnode serves another one: dWallets,
 * presigns and stored transactions of one chain mean nothing on another, and a reset localnet is another chain.
 */
export async function checkChain(
  db: Queryable,
  network: Pick<ChainNetwork, "name" | "client">,
): Promise<void> {
  const { chainIdentifier } = await network.client.core.getChainIdentifier();
  const [known] = await readRows(
    db,
    sql`INSERT INTO known_network (name, chain_id) VALUES (${network.name}, ${chainIdentifier})
        ON CONFLICT (name) DO UPDATE SET name = excluded.name RETURNING chain_id AS "chainId"`,
    { chainId: text },
  );
  if (known?.chainId === chainIdentifier) return;
  throw new Error(
    `the database belongs to another ${network.name}: chain ${known?.chainId}, and the fullnode serves ${chainIdentifier}. ` +
      "A localnet's folder and its database are kept or deleted together.",
  );
}
