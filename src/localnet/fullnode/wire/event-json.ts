import type { GrpcTypes } from "@mysten/sui/grpc";
import type { MoveJson } from "./move-json.ts";

/**
 * Adds the JSON of its events to a transaction, if the mask asks for it. `below` is the path of transactions in the
 * message of the mask, such as `transactions.`; default: the message is the transaction.
 */
export function withEventJson(
  executed: GrpcTypes.ExecutedTransaction,
  mask: { keeps(path: string): boolean },
  toJson: MoveJson,
  below = "",
): GrpcTypes.ExecutedTransaction {
  const { events } = executed;
  if (events === undefined || !mask.keeps(`${below}events.events.json`)) return executed;
  return {
    ...executed,
    events: { ...events, events: events.events.map((event) => withJson(event, toJson)) },
  };
}

/** Adds the JSON of its contents to an event, if this node can decode them. */
export function withJson(event: GrpcTypes.Event, toJson: MoveJson): GrpcTypes.Event {
  const json = event.contents?.value && toJson(event.eventType ?? "", event.contents.value);
  return json === undefined ? event : { ...event, json };
}
