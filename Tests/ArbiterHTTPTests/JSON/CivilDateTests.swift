import Testing

@testable import ArbiterHTTP

struct CivilDateTests {
    /// A naive calendar that counts day by day.
    private struct Calendar {
        var year: Int64
        var month: Int64 = 1
        var day: Int64 = 1

        var daysOfMonth: Int64 {
            switch month {
            case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
            case 4, 6, 9, 11: 30
            default: 31
            }
        }

        mutating func advance() {
            day += 1
            guard day > daysOfMonth else { return }
            (month, day) = (month + 1, 1)
            guard month > 12 else { return }
            (year, month) = (year + 1, 1)
        }
    }

    @Test(
        arguments: [(-719_528, 0), (-135_140, 1600), (0, 1970), (10_957, 2000), (2_524_557, 8882)] as [(Int64, Int64)])
    func `the days follow one another through more than four centuries`(start: Int64, year: Int64) {
        var calendar = Calendar(year: year)
        var firstDifference: String?
        for days in start..<(start + 160_000) {
            let date = CivilDate(daysSince1970: days)
            if date.year != calendar.year || date.month != calendar.month || date.day != calendar.day {
                firstDifference = firstDifference ?? "\(date), and not \(calendar)"
            }
            calendar.advance()
        }
        #expect(firstDifference == nil)
    }

    @Test(
        arguments: [
            (-719_469, 0, 2, 29), (-719_468, 0, 3, 1), (-719_529, -1, 12, 31), (-865_625, -400, 1, 1),
            (-1, 1969, 12, 31),
        ] as [(Int64, Int64, Int64, Int64)])
    func `there are days before the first`(days: Int64, year: Int64, month: Int64, day: Int64) {
        let date = CivilDate(daysSince1970: days)
        #expect((date.year, date.month, date.day) == (year, month, day))
        #expect(date.daysSince1970 == days)
    }
}
