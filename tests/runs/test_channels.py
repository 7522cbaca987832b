from gola.runs import ChannelError, channel_errors, mean_channel_errors, worth_showing


def test_the_variation_is_told_where_a_constant_part_hides_it():
    offset, plain = channel_errors(["T", "u"], [0.01, 0.10], [0.40, 0.12])
    assert offset.hides_variation
    assert "0.4000" in str(offset)
    assert not plain.hides_variation
    assert str(plain) == "0.1000"


def test_one_channel_is_shown_only_where_its_variation_is_hidden():
    assert worth_showing(channel_errors(["T"], [0.01], [0.4]))
    assert not worth_showing(channel_errors(["u"], [0.1], [0.1]))
    assert not worth_showing(channel_errors(["u"], [0.1]))
    assert worth_showing(channel_errors(["u", "v"], [0.1, 0.1]))


def test_runs_are_averaged_channel_by_channel():
    runs = [channel_errors(["u", "v"], [0.1, 0.3], [0.2, 0.4]), channel_errors(["u", "v"], [0.2, 0.5], [0.4, 0.8])]
    u, v = mean_channel_errors(runs)
    assert (u.name, round(u.error, 6), round(u.variation, 6)) == ("u", 0.15, 0.3)
    assert (v.name, round(v.error, 6), round(v.variation, 6)) == ("v", 0.4, 0.6)


def test_runs_of_earlier_versions_have_no_mean():
    assert mean_channel_errors([channel_errors(["u"], [0.1]), ()]) == ()
    assert mean_channel_errors([]) == ()
    (mixed,) = mean_channel_errors([channel_errors(["u"], [0.1]), channel_errors(["u"], [0.3], [0.5])])
    assert mixed == ChannelError(name="u", error=0.2, variation=None)
