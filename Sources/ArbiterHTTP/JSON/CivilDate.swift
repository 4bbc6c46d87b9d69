/// A date of the proleptic Gregorian calendar.
///
/// Howard Hinnant, "chrono-Compatible Low-Level Date Algorithms", `civil_from_days`.
struct CivilDate: Hashable, Sendable {
    let daysSince1970: Int64
    let year: Int64
    let month: Int64
    let day: Int64

    init(daysSince1970 days: Int64) {
        daysSince1970 = days
        // Days since 0000-03-01, so that a leap day is the last day of its year; an era is 400 years.
        let shifted = days + 719_468
        let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let monthFromMarch = (5 * dayOfYear + 2) / 153
        day = dayOfYear - (153 * monthFromMarch + 2) / 5 + 1
        month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
        year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
    }
}
