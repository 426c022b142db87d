"""Honest paraphrases and lies on everyday topics: what means the same is accepted, what tells another thing is not.

The log's day is 2026-03-12, a Thursday. In a line, «…» marks the quote, `A ## ` a heading above it, and `@A: ` what
stands beside it: the speaker, the turn that it answers, the old item.
"""

from __future__ import annotations

import re

import pytest

from pipelines.extract.claims import needs_verifying
from pipelines.extract.extraction import Place
from pipelines.extract.grounding import ungrounded
from pipelines.store.log import Entry

_LINE = re.compile(r"(?:@(?P<beside>[^:]+): )?(?:(?P<heading>.+?) ## )?(?P<line>.+)")


def faults(text: str, marked: str) -> list[str]:
    found = _LINE.fullmatch(marked)
    assert found is not None
    quoted = re.search("«(.+)»", found["line"])
    line = re.sub("[«»]", "", found["line"])
    headings = (found["heading"],) if found["heading"] else ()
    entry = Entry("Logs/2026-03-12.md", 1, 1, line, headings, day="2026-03-12")
    place = Place(entry, 1, 1, quoted[1] if quoted else line)
    return [what for what, _ in ungrounded(text, [place], [found["beside"]] if found["beside"] else [])]


HONEST = [
    ("Use Hugo as the generator and any theme.", "use hugo and a theme as we like, any"),
    ("Bring an umbrella as well as any snacks and a map.", "bring umbrella, snacks, map"),
    ("Send Ines the contract.", "send Ines the contract"),
    ("Ask Bob for the key.", "Bob has the key, please ask him"),
    ("Call Anders about the roof.", "have to ring Anders re roof"),
    ("Thank Priya for the cake.", "Priya brought cake, say thanks"),
    ("Follow up with Ken Ito.", "ping Ken Ito again"),
    ("The contract was signed by Ines.", "Ines signs the contract"),
    ("Vera and the user decided to sell the boat.", "Vera and I decided to sell the boat"),
    ("The team chose Figma.", "we've chosen figma"),
    ("Mail goes out through Postmark.", "sending mail via postmark"),
    ("The user is allergic to penicillin.", "I'm allergic to penicillin"),
    ("The lease runs for 24 months.", "the lease is for two years"),
    ("The tank holds one and a half litres.", "tank holds 1.5 l"),
    ("The tank holds 1.5 litres.", "the tank holds one and a half litres"),
    ("The lamp costs 49.90 dollars.", "lamp: $49.90"),
    ("The lamp costs $30.", "lamp is thirty bucks, 30 dollars"),
    ("Take the drops three times a day.", "drops 3x daily"),
    ("He has run the marathon twice.", "he ran the marathon two times"),
    ("Both sensors are broken.", "the two sensors are broken"),
    ("The dose is 2.5 mg.", "dose 2,5 mg"),
    ("There are 40 chairs.", "we have forty chairs"),
    ("The office is on the third floor.", "office: 3rd floor"),
    ("The trip costs about 2,300 euros.", "trip ~2.3k EUR"),
    ("Sales grew by 12 percent.", "sales +12%"),
    ("Half the tickets are gone.", "50 % of the tickets are gone"),
    ("The server has 64 GB of memory.", "server w/ 64 gigs... 64GB ram"),
    ("A 2-hour limit applies.", "two-hour limit"),
    ("The meeting is at 10:00.", "meeting at 10 am"),
    ("The meeting starts at 10 am.", "meeting 10:00"),
    ("The shop closes at 21:30.", "shop closes half past nine in the evening"),
    ("The market opens at 9:30.", "from Saturday the market opens at half nine"),
    ("The fair is from 2027-03-09 to 2027-03-11.", "the fair is from 9 to 11 March 2027"),
    ("Lunch is at 12:00.", "lunch at noon"),
    ("Lunch is at noon.", "lunch 12:00"),
    ("The call is at 3:15 pm.", "call at quarter past three pm"),
    ("The tax return is due on 2026-03-31.", "tax return due by end of March"),
    ("The plumber comes on 20 March 2026.", "plumber comes next Friday"),
    ("The plumber comes on Friday, 13 March.", "plumber comes tomorrow"),
    ("The visa ends in September 2026.", "visa ends sept 2026"),
    ("The report is written every two weeks.", "report every other week"),
    ("The report is biweekly.", "report every other week"),
    ("Bins are emptied daily.", "bins are emptied every day"),
    ("School starts on 1 September 2026.", "school starts Sep 1st"),
    ("The lift is out of order.", "the lift doesn't work"),
    ("Ana no longer eats meat.", "Ana stopped eating meat"),
    ("The key is missing.", "the key isn't there"),
    ("If nobody objects, the wall comes down.", "the wall comes down unless someone objects"),
    ("Except for Leo, everyone comes.", "all but Leo come"),
    ("Only admins can delete users.", "just admins can delete users; nobody but admins"),
    ("The pool is open up to 30 September.", "pool open until 30 September"),
    ("The order could be late.", "the order might be late"),
    ("If the deposit is not paid, the booking lapses.", "pay the deposit, otherwise the booking lapses"),
    ("Feed the cat whenever the bowl is empty.", "feed the cat if the bowl is empty"),
    ("Hugo builds the site.", "hugo builds the site. If it breaks, ask Bob"),
    ("Hugo builds the site.", "«hugo builds the site», and Bob may help out"),
    ("The site uses Hugo and costs 5 euros.", "not only does the site use Hugo, it costs 5 euros"),
    ("Nadia will write the minutes.", "@Nadia: I will write the minutes"),
    ("Osprey uses Redis 7.", "Osprey ## uses redis 7"),
    ("The 2026 budget for Osprey is fixed.", "Osprey budget 2026 ## it's fixed"),
    ("The API runs on PostgreSQL 15 and FastAPI.", "@PostgreSQL 16, FastAPI run the API: we're on postgresql 15 now"),
    ("Dana accepted the 300 dollar offer.", "@Dana, is 300 dollars ok?: fine by me"),
    ("Rent is due on the first of every month.", "rent's due on the 1st each month"),
    ("The landlord was paid 850 euros.", "paid the landlord €850"),
    ("The train to Ghent leaves at 17:45.", "our train to Ghent goes at quarter to six in the evening, 5:45 pm"),
    ("Yusuf takes two tablets daily.", "Yusuf has to take 2 tablets every day"),
    ("Piano lessons take place every other week.", "piano lesson biweekly"),
    ("The choir rehearses from 7:30 pm.", "choir rehearsal starts half past seven in the evening"),
    ("The quiche was baked at 180 degrees Celsius for 40 minutes.", "baked the quiche 40 min at 180°C"),
    ("Marta's passport expires on 2026-06-30.", "Marta: my passport runs out at the end of June"),
    ("A third of the seats are sold.", "a third of all seats sold"),
    ("The retreat lasts five days, from 4 to 8 May 2026.", "retreat 4-8 May, five days"),
    ("Half of the budget is spent.", "we've spent 50% of the budget"),
    ("Oskar was told to call the plumber.", "Told Oskar to ring the plumber"),
    ("Book the hall for 2026-03-20.", "book the hall for next Friday"),
    ("Send Leila the invoice.", "can you send Leila the invoice?"),
    ("Remind Tomasz about the visa.", "remind Tomasz re visa"),
    ("Pick Noor up at noon on Saturday.", "pick up Noor Saturday 12:00"),
    ("The bakery opens at 7 in the morning.", "bakery opens 7am"),
    ("Grandma's birthday is on 2026-03-15.", "grandma has her birthday on sunday"),
    ("The car must be inspected before August 2026.", "car inspection must happen before August"),
    ("The interest rate went up to 4.5 percent.", "interest is now 4.5%"),
    ("Interest fell by a quarter of a percentage point.", "interest dropped by a quarter of a percentage point"),
    ("Twelve children have signed up so far.", "a dozen kids signed up"),
    ("The greenhouse needs watering twice a week.", "water the greenhouse 2x a week"),
    ("No dogs are allowed in the flat.", "dogs aren't allowed in the flat"),
    ("Smoking is prohibited in the barn.", "nobody may smoke in the barn"),
    ("Guests may park only behind the house.", "guests can park behind the house, nowhere else"),
    ("The clinic does not accept cash.", "the clinic refuses cash"),
    ("If it rains, the match moves to the gym.", "match goes to the gym in case of rain"),
    ("Unless Petra objects, the shed will be red.", "we paint the shed red if Petra doesn't object"),
    (
        "Pay the fee by Friday; otherwise the place goes to someone else.",
        "pay the fee by Friday, if not the place goes to somebody else",
    ),
    ("The museum stays closed until April.", "museum's shut till april"),
    ("Everyone but Hiro has voted.", "everybody except Hiro voted"),
    ("Possibly the boiler needs a new pump.", "the boiler may need a new pump"),
    ("Only Dr. Okafor may change the dose.", "nobody but Dr Okafor is allowed to change the dose"),
    ("The user's sister Ingrid lives in Bergen.", "my sister Ingrid lives in Bergen"),
    ("Ravi and Chloé will present the poster.", "Ravi + Chloe present the poster"),
    ("The thesis has 120 pages.", "thesis: 120pp"),
    ("The API rate limit is 1,500 requests per minute.", "API limit 1.5k req/min"),
    ("Retries use exponential backoff, starting at 200 ms.", "retry w/ exponential backoff from 200ms"),
    ("The nightly backup runs at 02:30.", "backup every night 2:30am"),
    ("PostgreSQL was upgraded from 14 to 16.", "upgraded Postgres 14 -> 16"),
    ("Kestrel's gateway times out after half a minute.", "Kestrel ## gateway times out after 30 seconds"),
    ("Sabine will order the chairs.", "@Sabine: I'll order the chairs"),
    ("The workshop on 2026-04-17 is confirmed.", "@Is the workshop on 17 April confirmed?: yes, confirmed"),
    ("Do not reply to the agency before Monday.", "don't answer the agency until Monday"),
    ("The last order came three days ago, on 2026-03-09.", "last order came three days ago"),
    ("Meet Farid at 10 o'clock tomorrow, 13 March.", "meeting Farid tomorrow at ten"),
    ("Anything above 100 kg needs two people.", "need 2 ppl for anything over 100kg"),
]
LIES = {
    "a number": [
        ("Five teams run it.", "four teams run it and any as a team"),
        ("The lease runs for 36 months.", "the lease is for two years"),
        ("The tank holds 2.5 litres.", "the tank holds one and a half litres"),
        ("The lamp costs $49.", "lamp: $94"),
        ("Take the drops four times a day.", "drops 3x daily"),
        ("He has run the marathon three times.", "he ran the marathon twice"),
        ("The dose is 25 mg.", "dose 2.5 mg"),
        ("There are 14 chairs.", "we have forty chairs"),
        ("The trip costs 23,000 euros.", "trip ~2.3k EUR"),
        ("Sales grew by 21 percent.", "sales +12%"),
        ("The server has 64 TB.", "server w/ 64GB"),
        ("The meeting is at 22:00.", "meeting at 10 am"),
        ("The shop closes at 20:30.", "shop closes half past nine in the evening"),
        ("Lunch is at 13:00.", "lunch at noon"),
        ("The report is written every two months.", "report every two weeks"),
        ("The call lasts 15 hours.", "the call lasts 15 min"),
        ("Osprey uses Redis 8.", "Osprey ## uses redis 7"),
        ("The API runs on PostgreSQL 14.", "@PostgreSQL 16, FastAPI run the API: we're on postgresql 15 now"),
        ("Rent is 950 euros.", "paid rent, €850"),
        ("The train leaves at 18:45.", "train leaves 5:45 pm"),
        ("Yusuf takes three tablets a day.", "Yusuf has to take 2 tablets every day"),
        ("Piano lessons are every three weeks.", "piano lesson every two weeks"),
        ("The quiche bakes for 40 hours.", "bake the quiche 40 min"),
        ("The quiche bakes at 200 degrees.", "baked the quiche at 180°C"),
        ("Interest is 5.4 percent.", "interest is now 4.5%"),
        ("Thirteen children have signed up.", "a dozen kids signed up"),
        ("The limit is 15,000 requests per minute.", "limit 1.5k req/min"),
        ("The limit is 500 requests per hour.", "the limit is 500 requests per minute"),
        ("Backoff starts at 200 seconds.", "backoff from 200ms"),
        ("The thesis has 210 pages.", "thesis: 120pp"),
        ("PostgreSQL was upgraded from 14 to 17.", "upgraded Postgres 14 -> 16"),
        ("Two thirds of the seats are sold.", "half the seats are sold"),
    ],
    "a date": [
        ("The tax return is due on 2026-04-30.", "tax return due by end of March"),
        ("The plumber comes on 21 March 2026.", "plumber comes next Friday"),
        ("The visa ends in October 2026.", "visa ends sept 2026"),
        ("School starts on 2 September 2026.", "school starts Sep 1st"),
        ("Bins go out on Wednesday.", "bins go out on Tuesday"),
        ("The talk was on 2026-03-10.", "the talk was yesterday"),
        ("The pool opens on 2026-05-15.", "pool opens 1 May"),
        ("The passport expires on 2026-07-31.", "passport runs out at the end of June"),
        ("The retreat begins on 2026-05-05.", "retreat begins on 4 May"),
        ("Book the hall for 2026-03-23.", "book the hall for next Friday"),
        ("The inspection is in September.", "inspection in August"),
        ("Grandma's birthday is on Monday.", "grandma's birthday is on Sunday"),
        ("The fair is on 2027-05-04.", "the fair is on 4 May 2026"),
        ("The last order came on 2026-03-08.", "last order came three days ago"),
        ("Call the plumber on Saturday.", "call the plumber on Tuesday"),
    ],
    "a name": [
        ("Send Iris the contract.", "send Ines the contract"),
        ("Ask Bob for the key.", "ask Ben for the key"),
        ("The flight goes to Lisbon.", "flight to Porto"),
        ("Set DB_HOST.", "set DB_PORT"),
        ("Send Layla the invoice.", "send Leila the invoice"),
        ("Remind Piotr about the visa.", "remind Tomasz about the visa"),
        ("Ingrid lives in Oslo.", "Ingrid lives in Bergen"),
        ("The site moves to GitLab.", "the site moves to GitHub"),
        ("Email info@barn.example.", "email office@barn.example"),
    ],
    "a negation": [
        ("The user is allergic to penicillin.", "I'm not allergic to penicillin"),
        ("Tell Vera.", "don't tell Vera"),
        ("The lift never works.", "the lift works"),
        ("Sell the boat.", "we won't sell the boat"),
        ("Lock the door without a key.", "lock the door with a key"),
        ("Dogs are allowed in the flat.", "dogs aren't allowed in the flat"),
        ("The clinic does not accept cards.", "the clinic accepts cards"),
        ("The key fits.", "the key doesn't fit"),
        ("Leave the gate open.", "never leave the gate open"),
        ("Never feed the cat before noon.", "feed the cat before noon"),
    ],
    "a condition": [
        ("The wall comes down.", "the wall comes down unless someone objects"),
        ("Admins can delete users.", "only admins can delete users"),
        ("The pool is open.", "pool open until 30 September"),
        ("The order is late.", "the order might be late"),
        ("The booking lapses.", "pay the deposit, otherwise the booking lapses"),
        ("Feed the cat.", "feed the cat if the bowl is empty"),
        ("Bob leaves the team.", "Bob may leave the team"),
        ("The heating is off.", "apart from Sundays, the heating is off"),
        ("Ship the parts.", "ship the parts provided that the bank confirms"),
        ("The wall comes down.", "«the wall comes down», unless someone objects"),
        ("Never ride the tram.", "never ride the tram except on Sundays"),
        ("Use the stairs.", "use the stairs. Unless you carry something."),
        ("The match moves to the gym.", "if it rains, the match moves to the gym"),
        ("We paint the shed red.", "we paint the shed red unless Petra objects"),
        ("The place goes to someone else.", "pay by Friday, otherwise the place goes to someone else"),
        ("Everyone has voted.", "everyone except Hiro has voted"),
        ("The museum is closed.", "the museum is closed until April"),
        ("The boiler needs a new pump.", "the boiler might need a new pump"),
        ("The boiler needs a new pump.", "maybe the boiler needs a new pump"),
        ("Members get the discount.", "only members get the discount"),
        ("Dr Okafor may change the dose.", "nobody but Dr Okafor may change the dose"),
        ("Refund the customer.", "«refund the customer» if the item comes back unopened"),
        ("Guests sleep in the attic.", "guests sleep in the attic as long as the heating works"),
    ],
}

FOR_A_READER = [
    ("Bob will write the minutes.", "@Nadia: I will write the minutes"),
    ("Mail goes out through Mailgun.", "sending mail via postmark"),
    ("Vera, Max and the user sold the boat.", "Vera and I sold the boat"),
    ("Call Anders Holm.", "call Anders"),
    ("Sabine and Karl order the chairs.", "@Sabine: I'll order the chairs"),
    ("The poster is presented by Ravi Gupta.", "Ravi presents the poster"),
    ("The contract was not signed.", "Ines signed the contract"),
    ("Pets may come along.", "no pets, sorry"),
    ("Anyone may smoke in the barn.", "nobody may smoke in the barn"),
    ("The soup contains nuts.", "soup without nuts"),
    ("Everyone comes.", "all but Leo come"),
    ("Stop the mixer.", "stop the mixer when the dough is smooth"),
    ("Start the pump.", "start the pump once the pressure is below 2 bar"),
]


@pytest.mark.parametrize(("text", "line"), HONEST)
def test_what_means_the_same_is_grounded(text: str, line: str) -> None:
    assert faults(text, line) == []


@pytest.mark.parametrize(("text", "line", "what"), [(*pair, what) for what, pairs in LIES.items() for pair in pairs])
def test_what_tells_another_thing_is_not(text: str, line: str, what: str) -> None:
    assert what in faults(text, line)


@pytest.mark.parametrize(("text", "line"), FOR_A_READER)
def test_what_code_cannot_tell_is_left_to_the_second_reader(text: str, line: str) -> None:
    assert faults(text, line) == []
    entry = Entry("Logs/2026-03-12.md", 1, 1, line, day="2026-03-12")
    assert needs_verifying(text, [Place(entry, 1, 1, line)])
