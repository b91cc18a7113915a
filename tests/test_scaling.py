"""The simulation of `make bench-scaling`: it runs, it repeats itself, and a fleet that is too small
keeps people waiting.
"""

from dataclasses import replace

from benchmarks.scaling import MEASURED, Fleet, Simulation


def test_the_fleet_grows_with_the_people() -> None:
    fleets = [Fleet.for_people(people, MEASURED) for people in (1, 100, 10_000)]
    assert fleets[0] == Fleet(web=1, engines=1, sandbox_cores=1, database_cores=1)
    assert fleets[1].engines <= fleets[2].engines / 10
    assert all(
        getattr(fleets[2], part) > 1
        for part in ("web", "engines", "sandbox_cores", "database_cores")
    )


def test_the_simulation_keeps_up_with_a_fleet_that_is_large_enough() -> None:
    fleet = Fleet.for_people(300, MEASURED)
    figures = Simulation(300, fleet, MEASURED).run()
    assert figures == Simulation(300, fleet, MEASURED).run()
    assert all(share < 0.9 for share in figures["busy"].values())
    model = 0.9 * 3 + 0.1 * 25
    assert abs(figures["turns_per_second"] - 300 / (60 + model)) < 0.5


def test_a_fleet_that_is_too_small_keeps_people_waiting() -> None:
    fleet = Fleet.for_people(300, MEASURED)
    enough = Simulation(300, fleet, MEASURED).run()
    slow = replace(MEASURED, reuse=replace(MEASURED.reuse, sandbox_ms=400))
    scarce = Simulation(300, fleet, slow).run()
    assert scarce["busy"]["sandbox"] > 0.95
    assert scarce["overhead_p50_ms"] > 10 * enough["overhead_p50_ms"]
    assert scarce["turns_per_second"] < enough["turns_per_second"]
