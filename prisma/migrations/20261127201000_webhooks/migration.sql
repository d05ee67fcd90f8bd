-- Webhooks: endpoints of projects, and the deliveries of events to them.
-- CreateTable
CREATE TABLE "webhook_project" (
    "project_id" UUID NOT NULL,
    "endpoint_count" INTEGER NOT NULL DEFAULT 0,
    "served_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "webhook_project_pkey" PRIMARY KEY ("project_id")
);

-- CreateTable
CREATE TABLE "webhook_endpoint" (
    "id" UUID NOT NULL,
    "project_id" UUID NOT NULL,
    "url" TEXT NOT NULL,
    "kinds" TEXT[],
    "disabled_for" TEXT,
    "secret_number" INTEGER NOT NULL DEFAULT 1,
    "rotated_until" TIMESTAMPTZ(3),
    "public_key" BYTEA NOT NULL,
    "sequence" BIGINT NOT NULL,
    "failing_since" TIMESTAMPTZ(3),
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "deleted_at" TIMESTAMPTZ(3),

    CONSTRAINT "webhook_endpoint_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "webhook_delivery" (
    "id" UUID NOT NULL,
    "endpoint_id" UUID NOT NULL,
    "project_id" UUID NOT NULL,
    "sequence" BIGINT,
    "event_id" UUID NOT NULL,
    "kind" TEXT NOT NULL,
    "subject" TEXT NOT NULL,
    "user_reference" TEXT,
    "data" JSONB NOT NULL,
    "event_time" TIMESTAMPTZ(3) NOT NULL,
    "state" TEXT NOT NULL DEFAULT 'pending',
    "attempts" INTEGER NOT NULL DEFAULT 0,
    "due_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "lease" UUID,
    "last_status" INTEGER,
    "last_error" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "ended_at" TIMESTAMPTZ(3),

    CONSTRAINT "webhook_delivery_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE INDEX "webhook_endpoint_project_id_id_idx" ON "webhook_endpoint"("project_id", "id");

-- CreateIndex
CREATE INDEX "webhook_delivery_endpoint_id_created_at_id_idx" ON "webhook_delivery"("endpoint_id", "created_at", "id");

-- CreateIndex
CREATE UNIQUE INDEX "webhook_delivery_endpoint_id_sequence_key" ON "webhook_delivery"("endpoint_id", "sequence");

-- AddForeignKey
ALTER TABLE "webhook_project" ADD CONSTRAINT "webhook_project_project_id_fkey" FOREIGN KEY ("project_id") REFERENCES "project"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "webhook_endpoint" ADD CONSTRAINT "webhook_endpoint_project_id_fkey" FOREIGN KEY ("project_id") REFERENCES "webhook_project"("project_id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "webhook_delivery" ADD CONSTRAINT "webhook_delivery_endpoint_id_fkey" FOREIGN KEY ("endpoint_id") REFERENCES "webhook_endpoint"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

ALTER TABLE "webhook_project" ADD CONSTRAINT "webhook_project_count" CHECK ("endpoint_count" >= 0);
ALTER TABLE "webhook_endpoint" ADD CONSTRAINT "webhook_endpoint_disabled" CHECK ("disabled_for" IN ('requested', 'gone', 'failing'));
ALTER TABLE "webhook_delivery" ADD CONSTRAINT "webhook_delivery_state" CHECK ("state" IN ('pending', 'delivered', 'failed'));
ALTER TABLE "webhook_delivery" ADD CONSTRAINT "webhook_delivery_ended" CHECK (("state" = 'pending') = ("ended_at" IS NULL));

-- What is due at an endpoint, what comes before it, and what is on its way.
CREATE INDEX "webhook_delivery_due" ON "webhook_delivery" ("endpoint_id", "due_at") WHERE "state" = 'pending';
CREATE INDEX "webhook_delivery_order" ON "webhook_delivery" ("endpoint_id", "subject", "sequence") WHERE "state" = 'pending';
CREATE INDEX "webhook_delivery_leased" ON "webhook_delivery" ("project_id") WHERE "lease" IS NOT NULL;
CREATE INDEX "webhook_delivery_ended" ON "webhook_delivery" ("ended_at") WHERE "state" <> 'pending';
CREATE INDEX "webhook_delivery_failed" ON "webhook_delivery" ("endpoint_id", "created_at", "id") WHERE "state" = 'failed';
