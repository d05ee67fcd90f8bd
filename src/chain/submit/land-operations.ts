import type { Queryable } from "../../store/database.ts";
import type { LandedTransaction, OperationKind, OperationName } from "../operation.ts";
import { finishOperations, operationsOf, type QueuedOperation } from "./outbox.ts";

/**
 * Writes the effects of a landed transaction on its operations and returns them; a second call returns none. `db` must
 * be one database transaction.
 */
export async function landOperations(
  db: Queryable,
  kindOf: (name: OperationName) => OperationKind,
  transaction: LandedTransaction,
): Promise<QueuedOperation[]> {
  const found = await operationsOf(db, transaction.digest);
  for (const [name, group] of groupByKind(found)) {
    const kind = kindOf(name);
    const subjects = await kind.load(
      db,
      group.map((operation) => operation.subjectId),
    );
    if (subjects.size > 0) await kind.landed(db, [...subjects.values()], transaction);
  }
  await finishOperations(
    db,
    found.map(({ id }) => id),
  );
  return found;
}

function groupByKind(operations: readonly QueuedOperation[]): Map<OperationName, QueuedOperation[]> {
  const groups = new Map<OperationName, QueuedOperation[]>();
  for (const operation of operations)
    groups.set(operation.kind, [...(groups.get(operation.kind) ?? []), operation]);
  return groups;
}
