-- Events of a project. There is no foreign key, because every signature writes one, and a project is never deleted.
-- CreateTable
CREATE TABLE "event" (
    "id" BIGSERIAL NOT NULL,
    "event_id" UUID NOT NULL DEFAULT gen_random_uuid(),
    "project_id" UUID NOT NULL,
    "sequence" BIGINT,
    "kind" TEXT NOT NULL,
    "subject" TEXT NOT NULL,
    "user_reference" TEXT,
    "data" JSONB NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "event_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "event_head" (
    "project_id" UUID NOT NULL,
    "last_sequence" BIGINT NOT NULL DEFAULT 0,
    "lost_sequence" BIGINT NOT NULL DEFAULT 0,

    CONSTRAINT "event_head_pkey" PRIMARY KEY ("project_id"),
    CONSTRAINT "event_head_lost" CHECK ("lost_sequence" >= 0 AND "lost_sequence" <= "last_sequence")
);

-- AddForeignKey
ALTER TABLE "event_head" ADD CONSTRAINT "event_head_project_id_fkey" FOREIGN KEY ("project_id") REFERENCES "project"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- Most events of most projects have no number. Each event is in one of these two.
CREATE UNIQUE INDEX "event_sequence" ON "event" ("project_id", "sequence") WHERE "sequence" IS NOT NULL;
CREATE INDEX "event_unnumbered" ON "event" ("project_id", "id") WHERE "sequence" IS NULL;
