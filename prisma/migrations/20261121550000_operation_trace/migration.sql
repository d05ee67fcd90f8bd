-- The W3C trace context of the call that an operation came from: what is done for it later belongs to the same trace.
ALTER TABLE "chain_operation" ADD COLUMN "trace_parent" TEXT;
