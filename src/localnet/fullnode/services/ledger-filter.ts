import { GrpcTypes } from "@mysten/sui/grpc";
import { RpcFailure, Status } from "../execution/failures.ts";
import { SYSTEM_SENDER } from "../execution/system-transaction.ts";
import { parseAddress, parseStructType } from "../objects/sui-types.ts";

/**
 * Returns the test of a `TransactionFilter`; a call without a filter accepts everything. Throws INVALID_ARGUMENT for a
 * filter that is empty, too long, or has an invalid value.
 */
export function transactionTest(
  filter: GrpcTypes.TransactionFilter | undefined,
): Test<GrpcTypes.ExecutedTransaction> {
  return anyTerm(filter?.terms, ({ negated, predicate }) => signed(negated, transactionPredicate(predicate)));
}

/**
 * Returns the test of an `EventFilter` for the events of a transaction; a call without a filter accepts everything.
 * Throws like {@link transactionTest}.
 */
export function eventTest(filter: GrpcTypes.EventFilter | undefined): Test<GrpcTypes.Event> {
  return anyTerm(filter?.terms, ({ negated, predicate }) => signed(negated, eventPredicate(predicate)));
}

/** Decides whether a list or a subscription has this item. */
export type Test<T> = (item: T) => boolean;

/** The maximum number of literals in one filter, as on Sui's nodes. */
const MAX_LITERALS = 10;
const { PACKAGE_WRITE } = GrpcTypes.ChangedObject_OutputObjectState;

function anyTerm<L, T>(
  terms: readonly { readonly literals: readonly L[] }[] | undefined,
  testOf: (literal: L) => Test<T>,
): Test<T> {
  if (terms === undefined) return () => true;
  const count = terms.reduce((total, { literals }) => total + literals.length, 0);
  if (terms.length === 0 || terms.some(({ literals }) => literals.length === 0))
    throw invalid("filter needs a term, and each term a literal");
  if (count > MAX_LITERALS) throw invalid(`filter has more than ${MAX_LITERALS} literals`);
  const tests = terms.map(({ literals }) => literals.map(testOf));
  return (item) => tests.some((literals) => literals.every((test) => test(item)));
}

function signed<T>(isNegated: boolean, test: Test<T>): Test<T> {
  return isNegated ? (item) => !test(item) : test;
}

function transactionPredicate(
  predicate: GrpcTypes.TransactionLiteral["predicate"],
): Test<GrpcTypes.ExecutedTransaction> {
  switch (predicate.oneofKind) {
    case "sender": {
      const sender = parseAddress(predicate.sender.address, "sender");
      return ({ transaction }) => (transaction?.sender ?? SYSTEM_SENDER) === sender;
    }
    case "affectedAddress": {
      const address = parseAddress(predicate.affectedAddress.address, "affected_address");
      return ({ effects }) =>
        changes(effects).some(
          (change) =>
            change.inputOwner?.address === address ||
            change.outputOwner?.address === address ||
            change.accumulatorWrite?.address === address,
        );
    }
    case "affectedObject": {
      const id = parseAddress(predicate.affectedObject.objectId, "affected_object");
      return ({ effects }) => changes(effects).some((change) => change.objectId === id);
    }
    case "moveCall": {
      const path = movePath(predicate.moveCall.function, "move_call", 3);
      return (executed) =>
        moveCalls(executed).some((call) =>
          startsWith([call.package ?? "", call.module ?? "", call.function ?? ""], path),
        );
    }
    case "packageWrite":
      return ({ effects }) => changes(effects).some(({ outputState }) => outputState === PACKAGE_WRITE);
    default: {
      const test = eventPredicate(predicate);
      return ({ events }) => (events?.events ?? []).some(test);
    }
  }
}

function eventPredicate(
  predicate: Exclude<
    GrpcTypes.TransactionLiteral["predicate"],
    { oneofKind: "affectedAddress" | "affectedObject" | "moveCall" | "packageWrite" }
  >,
): Test<GrpcTypes.Event> {
  switch (predicate.oneofKind) {
    case "sender": {
      const address = parseAddress(predicate.sender.address, "sender");
      return ({ sender }) => sender === address;
    }
    case "emitModule": {
      const path = movePath(predicate.emitModule.module, "emit_module", 2);
      return (event) => startsWith([event.packageId ?? "", event.module ?? ""], path);
    }
    case "eventType":
      return eventTypeTest(predicate.eventType.eventType ?? "");
    case "eventStreamHead":
      parseAddress(predicate.eventStreamHead.streamId, "event_stream_head");
      // This node has no authenticated event streams.
      return () => false;
    case undefined:
      throw invalid("filter has a literal without a predicate");
  }
}

function eventTypeTest(text: string): Test<GrpcTypes.Event> {
  if (text.includes("<")) {
    const type = parseStructType(text, "event_type");
    return ({ eventType }) => eventType === type;
  }
  const path = movePath(text, "event_type", 3);
  return ({ eventType = "" }) => startsWith(eventType.replace(/<.*$/, "").split("::"), path);
}

/** Splits `package[::module[::name]]`, with the package in its long form. */
function movePath(text: string | undefined, name: string, maxLength: number): readonly string[] {
  const [address, ...names] = (text ?? "").split("::");
  if (names.length >= maxLength || names.includes(""))
    throw invalid(`invalid ${name}: ${(text ?? "").slice(0, 200)}`);
  return [parseAddress(address, name), ...names];
}

function startsWith(path: readonly string[], start: readonly string[]): boolean {
  return start.every((part, index) => path[index] === part);
}

function changes(effects: GrpcTypes.TransactionEffects | undefined): readonly GrpcTypes.ChangedObject[] {
  return effects?.changedObjects ?? [];
}

function moveCalls({ transaction }: GrpcTypes.ExecutedTransaction): readonly GrpcTypes.MoveCall[] {
  const data = transaction?.kind?.data;
  if (data?.oneofKind !== "programmableTransaction") return [];
  return data.programmableTransaction.commands.flatMap(({ command }) =>
    command.oneofKind === "moveCall" ? [command.moveCall] : [],
  );
}

function invalid(message: string): RpcFailure {
  return new RpcFailure(Status.InvalidArgument, message);
}
