-- Costs are kept by the hour: caps hold in any 20 hours, whatever night a memory's zone and hours call it.
ALTER TABLE fleet_spending RENAME COLUMN night TO hour;
ALTER TABLE fleet_spending ALTER COLUMN hour TYPE timestamptz;
ALTER TABLE fleet_calls RENAME COLUMN night TO hour;
ALTER TABLE fleet_calls ALTER COLUMN hour TYPE timestamptz;
