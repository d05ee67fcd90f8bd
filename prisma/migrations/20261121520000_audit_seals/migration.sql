-- CreateTable
CREATE TABLE "audit_unsealed" (
    "audit_event_id" BIGINT NOT NULL,

    CONSTRAINT "audit_unsealed_pkey" PRIMARY KEY ("audit_event_id")
);

-- CreateTable
CREATE TABLE "audit_leaf" (
    "sequence" BIGINT NOT NULL,
    "audit_event_id" BIGINT NOT NULL,
    "leaf_hash" BYTEA NOT NULL,
    "chain_hash" BYTEA NOT NULL,

    CONSTRAINT "audit_leaf_pkey" PRIMARY KEY ("sequence")
);

-- CreateTable
CREATE TABLE "audit_seal" (
    "number" BIGINT NOT NULL,
    "first_sequence" BIGINT NOT NULL,
    "last_sequence" BIGINT NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL,
    "merkle_root" BYTEA NOT NULL,
    "chain_hash" BYTEA NOT NULL,
    "previous_seal_hash" BYTEA NOT NULL,
    "seal_hash" BYTEA NOT NULL,
    "public_key" BYTEA,
    "signature" BYTEA,

    CONSTRAINT "audit_seal_pkey" PRIMARY KEY ("number")
);

-- CreateIndex
CREATE UNIQUE INDEX "audit_leaf_audit_event_id_key" ON "audit_leaf"("audit_event_id");

-- CreateIndex
CREATE UNIQUE INDEX "audit_seal_last_sequence_key" ON "audit_seal"("last_sequence");

-- AddForeignKey
ALTER TABLE "audit_leaf" ADD CONSTRAINT "audit_leaf_audit_event_id_fkey" FOREIGN KEY ("audit_event_id") REFERENCES "audit_event"("id") ON DELETE RESTRICT ON UPDATE CASCADE;


-- What Prisma's schema language cannot say.

ALTER TABLE "audit_leaf" ADD CONSTRAINT "audit_leaf_hashes" CHECK (
  octet_length("leaf_hash") = 32 AND octet_length("chain_hash") = 32
);
ALTER TABLE "audit_seal" ADD CONSTRAINT "audit_seal_shape" CHECK (
  "number" >= 1 AND "first_sequence" >= 1 AND "last_sequence" >= "first_sequence"
  AND octet_length("merkle_root") = 32 AND octet_length("chain_hash") = 32
  AND octet_length("previous_seal_hash") = 32 AND octet_length("seal_hash") = 32
  AND ("public_key" IS NULL) = ("signature" IS NULL)
);

-- Every event waits to be sealed from the moment it is written, in the transaction that writes it.
CREATE FUNCTION "enlist_audit_event"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO audit_unsealed SELECT id FROM written;
  RETURN NULL;
END
$$;
CREATE TRIGGER "audit_event_enlisted" AFTER INSERT ON "audit_event"
  REFERENCING NEW TABLE AS written FOR EACH STATEMENT EXECUTE FUNCTION "enlist_audit_event"();
INSERT INTO "audit_unsealed" SELECT "id" FROM "audit_event";

-- It leaves the list only by being sealed, and seals stay as they are.
CREATE FUNCTION "refuse_unsealed"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF EXISTS (SELECT FROM gone LEFT JOIN audit_leaf USING (audit_event_id) WHERE audit_leaf.sequence IS NULL) THEN
    RAISE EXCEPTION 'an audit event that is not sealed stays listed' USING ERRCODE = 'restrict_violation';
  END IF;
  RETURN NULL;
END
$$;
CREATE TRIGGER "audit_unsealed_until_sealed" AFTER DELETE ON "audit_unsealed"
  REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION "refuse_unsealed"();
CREATE TRIGGER "audit_unsealed_kept" BEFORE UPDATE OR TRUNCATE ON "audit_unsealed"
  FOR EACH STATEMENT EXECUTE FUNCTION "refuse_change"();
CREATE TRIGGER "audit_leaf_append_only" BEFORE UPDATE OR DELETE OR TRUNCATE ON "audit_leaf"
  FOR EACH STATEMENT EXECUTE FUNCTION "refuse_change"();
CREATE TRIGGER "audit_seal_append_only" BEFORE UPDATE OR DELETE OR TRUNCATE ON "audit_seal"
  FOR EACH STATEMENT EXECUTE FUNCTION "refuse_change"();
