-- Reservations that expire count against how many the project may have open.
ALTER TABLE "project"
  ADD COLUMN "lapsed_reservations" INTEGER NOT NULL DEFAULT 0,
  ADD COLUMN "lapsed_at" TIMESTAMPTZ(3);
